"""What releases of Apache Kafka answer to ApiVersions. Written by `make personas`; do not edit.

A cell is the lowest and the highest version of an API, or level of a feature; ``=`` is followed by
the finalized level of a new cluster. Asked were 2.8.2, 3.9.1, 4.0.2, 4.3.1.
"""

from __future__ import annotations

from typing import Final

APIS: Final = """\
key name                         2.8  3.9  4.0  4.3
0   Produce                      0-9  0-11 0-12 0-13
1   Fetch                        0-12 0-17 4-17 4-18
2   ListOffsets                  0-6  0-9  1-10 1-11
3   Metadata                     0-11 0-12 0-13 0-13
4   LeaderAndIsr                 0-5  -    -    -
5   StopReplica                  0-3  -    -    -
6   UpdateMetadata               0-7  -    -    -
7   ControlledShutdown           0-3  -    -    -
8   OffsetCommit                 0-8  0-9  2-9  2-10
9   OffsetFetch                  0-7  0-9  1-9  1-10
10  FindCoordinator              0-3  0-6  0-6  0-6
11  JoinGroup                    0-7  0-9  0-9  0-9
12  Heartbeat                    0-4  0-4  0-4  0-4
13  LeaveGroup                   0-4  0-5  0-5  0-5
14  SyncGroup                    0-5  0-5  0-5  0-5
15  DescribeGroups               0-5  0-5  0-6  0-6
16  ListGroups                   0-4  0-5  0-5  0-5
17  SaslHandshake                0-1  0-1  0-1  0-1
18  ApiVersions                  0-3  0-4  0-4  0-4
19  CreateTopics                 0-7  0-7  2-7  2-7
20  DeleteTopics                 0-6  0-6  1-6  1-6
21  DeleteRecords                0-2  0-2  0-2  0-2
22  InitProducerId               0-4  0-5  0-5  0-5
23  OffsetForLeaderEpoch         0-4  0-4  2-4  2-4
24  AddPartitionsToTxn           0-3  0-5  0-5  0-5
25  AddOffsetsToTxn              0-3  0-4  0-4  0-4
26  EndTxn                       0-3  0-4  0-5  0-5
27  WriteTxnMarkers              0-1  0-1  1-1  1-2
28  TxnOffsetCommit              0-3  0-4  0-5  0-5
29  DescribeAcls                 0-2  0-3  1-3  1-3
30  CreateAcls                   0-2  0-3  1-3  1-3
31  DeleteAcls                   0-2  0-3  1-3  1-3
32  DescribeConfigs              0-4  0-4  1-4  1-4
33  AlterConfigs                 0-2  0-2  0-2  0-2
34  AlterReplicaLogDirs          0-2  0-2  1-2  1-2
35  DescribeLogDirs              0-2  0-4  1-4  1-5
36  SaslAuthenticate             0-2  0-2  0-2  0-2
37  CreatePartitions             0-3  0-3  0-3  0-3
38  CreateDelegationToken        0-2  0-3  1-3  1-3
39  RenewDelegationToken         0-2  0-2  1-2  1-2
40  ExpireDelegationToken        0-2  0-2  1-2  1-2
41  DescribeDelegationToken      0-2  0-3  1-3  1-3
42  DeleteGroups                 0-2  0-2  0-2  0-2
43  ElectLeaders                 0-2  0-2  0-2  0-2
44  IncrementalAlterConfigs      0-1  0-1  0-1  0-1
45  AlterPartitionReassignments  0-0  0-0  0-0  0-1
46  ListPartitionReassignments   0-0  0-0  0-0  0-0
47  OffsetDelete                 0-0  0-0  0-0  0-0
48  DescribeClientQuotas         0-1  0-1  0-1  0-1
49  AlterClientQuotas            0-1  0-1  0-1  0-1
50  DescribeUserScramCredentials 0-0  0-0  0-0  0-0
51  AlterUserScramCredentials    0-0  0-0  0-0  0-0
55  DescribeQuorum               -    0-2  0-2  0-2
56  AlterPartition               0-0  -    -    -
57  UpdateFeatures               0-0  0-1  0-2  0-2
60  DescribeCluster              0-0  0-1  0-2  0-2
61  DescribeProducers            0-0  0-0  0-0  0-0
64  UnregisterBroker             -    0-0  0-0  0-0
65  DescribeTransactions         -    0-0  0-0  0-0
66  ListTransactions             -    0-1  0-1  0-2
68  ConsumerGroupHeartbeat       -    0-0  0-1  0-1
69  ConsumerGroupDescribe        -    0-0  0-1  0-1
74  ListConfigResources          -    0-0  0-0  0-1
75  DescribeTopicPartitions      -    0-0  0-0  0-0
76  ShareGroupHeartbeat          -    -    -    1-1
77  ShareGroupDescribe           -    -    -    1-1
78  ShareFetch                   -    -    -    1-2
79  ShareAcknowledge             -    -    -    1-2
80  AddRaftVoter                 -    0-0  0-0  0-1
81  RemoveRaftVoter              -    0-0  0-0  0-0
83  InitializeShareGroupState    -    -    -    0-0
84  ReadShareGroupState          -    -    -    0-0
85  WriteShareGroupState         -    -    -    0-1
86  DeleteShareGroupState        -    -    -    0-0
87  ReadShareGroupStateSummary   -    -    -    0-1
88  StreamsGroupHeartbeat        -    -    -    0-0
89  StreamsGroupDescribe         -    -    -    0-0
90  DescribeShareGroupOffsets    -    -    -    0-1
91  AlterShareGroupOffsets       -    -    -    0-0
92  DeleteShareGroupOffsets      -    -    -    0-0
"""
FEATURES: Final = """\
feature                          2.8 3.9     4.0     4.3
eligible.leader.replicas.version -   -       0-1     0-1=1
group.version                    -   -       0-1=1   0-1=1
kraft.version                    -   0-1     0-1     0-1
metadata.version                 -   1-21=21 7-25=25 7-30=30
share.version                    -   -       -       0-1=1
streams.version                  -   -       -       0-1=1
transaction.version              -   -       0-2=2   0-2=2
"""

# Generated from schemas/errors.json by python -m fencepost_protocol.codegen.
# Do not edit.
"""What each error code means and what to do about it."""

TEXTS: dict[int, tuple[str, str, dict[str, str]]] = {
    -1: (
        "Something broke inside the broker, mostly a bug of its own; how much of the request took effect is open.",
        "Look for the traceback in the log of the broker that answered. In a transaction, abort; if that fails as well, close the producer and start a new one.",
        {
            "producer": "Look for the traceback in the broker's log. Abort an open transaction; if that fails as well, close the producer and start a new one.",
            "consumer": "Look for the traceback in the broker's log; reading can go on.",
            "admin": "Look for the traceback in the broker's log, then look what has become of the request.",
        },
    ),
    0: (
        "Success: the request, or this item of it, was carried out.",
        "Nothing to do, but read on: a top-level NONE can stand above a topic, partition or member whose own code is not NONE.",
        {
        },
    ),
    1: (
        "Fetch or DeleteRecords named an offset below the log start or beyond the high watermark.",
        "Send ListOffsets with -2 (earliest) or -1 (latest) and go on from there; auto.offset.reset does so by itself. Usually retention, DeleteRecords or a topic made anew.",
        {
            "consumer": "Seek to where you want to go on, or set auto_offset_reset. Usually retention, delete_records or a topic made anew has taken the records.",
        },
    ),
    2: (
        "The bytes of a batch do not add up: its CRC-32C is not the one computed on arrival, or its magic does not exist.",
        "Compute CRC-32C from the attributes field to the end, after the last change to the batch, then resend. Bytes that were changed on the way show up here, too.",
        {
            "producer": "Something changes bytes on the way, or the broker's disk: look at its log, then send again.",
            "consumer": "Look at the broker's log: the record is damaged on its disk, or on the way. Seek past it to go on.",
        },
    ),
    3: (
        "Nobody answers to this topic name or partition number where the request went: not created, deleted, or not heard of yet.",
        "Check name and partition number; CreateTopics, or set auto.create.topics.enable; then Metadata again. Just after CreateTopics a retry is enough.",
        {
            "producer": "Create the topic, or set auto.create.topics.enable at the broker; check its name and the partition's number.",
            "consumer": "Create the topic; check its name and the partition's number. Was it deleted meanwhile?",
            "admin": "Check name and partition's number; `list_topics` shows what there is.",
        },
    ),
    4: (
        "A fetch gave byte limits that no answer can meet, such as a negative size.",
        "Set fetch.max.bytes and max.partition.fetch.bytes to positive values. Brokers hardly ever send this code.",
        {
        },
    ),
    5: (
        "The partition is there, but no broker leads it now: it is brand new, or all replicas that may lead are down.",
        "Send Metadata until LeaderId is not -1; an auto-created topic says this once. If it lasts, start the brokers that hold the replicas.",
        {
            "producer": "Start the brokers that hold the partition's replicas: none of them can lead.",
            "consumer": "Start the brokers that hold the partition's replicas: none of them can lead.",
            "admin": "Start the brokers that hold the partition's replicas: none of them can lead.",
        },
    ),
    6: (
        "The request went to a broker that does not lead the partition or, for a fetch from a follower, keeps no copy of it.",
        "Send Metadata, then the same request to the leader it names. Normal after an election or a reassignment; a broker address fixed in a test causes it too.",
        {
            "producer": "Leaders change too often, or the brokers do not agree on them: see whether one of them is cut off from the controller.",
            "consumer": "Leaders change too often, or the brokers do not agree on them: see whether one of them is cut off from the controller.",
            "admin": "Ask again: leadership has just moved.",
        },
    ),
    7: (
        "The broker stopped waiting: replication for acks=all, or an admin change, took longer than the request allowed.",
        "Produce: resend with the same producer id, epoch and sequence, never as a new record. Raise TimeoutMs (request.timeout.ms), or find the follower that is down or too slow.",
        {
            "producer": "A follower is down or too slow: the record is in the leader's log, and an idempotent producer sends it again without writing it twice. See `describe_topics` for the replicas in sync.",
            "consumer": "The coordinator could not write in time: see whether the replicas of __consumer_offsets are in sync, then commit again.",
            "admin": "What you asked for may have happened all the same: look before you repeat it. See whether all brokers run.",
        },
    ),
    8: (
        "A broker that this request depends on is not in the cluster at the moment.",
        "Start that broker, wait until Metadata lists it, then ask again. Tests get here by stopping a node and still addressing it by its id.",
        {
            "admin": "Start that broker, or leave it out; `describe_cluster` lists those that run.",
        },
    ),
    9: (
        "The partition has a copy on this broker that cannot be used right now, for instance one that is still being moved.",
        "Send Metadata and read from the leader or from another broker of IsrNodes; a consumer with client.rack falls back to the leader.",
        {
        },
    ),
    10: (
        "A batch, in its compressed size, is bigger than the topic takes.",
        "Raise max.message.bytes (topic) or message.max.bytes (broker), or lower batch.size and max.request.size. A batch of several records can be split and sent again.",
        {
            "producer": "Raise max.message.bytes (topic) or message.max.bytes (broker), or make records smaller: compression, batch_size.",
            "consumer": "Raise max_partition_fetch_bytes.",
        },
    ),
    11: (
        "A controller spoke with an epoch from before the last change of controllers.",
        "A left-over of ZooKeeper clusters that clients should never see. Look for a request between brokers that came late or twice.",
        {
        },
    ),
    12: (
        "The text stored beside a committed offset is longer than the group coordinator takes.",
        "Shorten the metadata string of the commit, or raise offset.metadata.max.bytes (4096) on the broker.",
        {
            "producer": "Shorten the metadata of the offsets, or raise offset.metadata.max.bytes (4096) at the broker.",
            "consumer": "Shorten the metadata of the offsets, or raise offset.metadata.max.bytes (4096) at the broker.",
            "admin": "Shorten the metadata of the offsets, or raise offset.metadata.max.bytes (4096) at the broker.",
        },
    ),
    13: (
        "The connection broke before the answer came. Clients make this code up themselves; it does not travel.",
        "Reconnect, send Metadata, resend with the same sequence: it may have been carried out. Check for malformed requests, at which brokers close the connection.",
        {
            "producer": "See whether the broker runs and why it closed the connection: its log says so. An idempotent producer writes nothing twice.",
            "consumer": "See whether the broker runs and why it closed the connection: its log says so.",
            "admin": "See whether the broker runs and why it closed the connection. What you asked for may have happened.",
        },
    ),
    14: (
        "The right coordinator, but not ready: it still reads its log or, for InitProducerId, has no block of producer ids yet.",
        "Back off, resend to the same broker. OffsetFetch below v7 on Fencepost: offsets of a transaction are pending (offset.fetch.pending.legacy=kafka gives the old value instead).",
        {
            "producer": "The coordinator is still reading its log: wait, and look at its broker's log if it lasts.",
            "consumer": "The coordinator is still reading its log: wait, and look at its broker's log if it lasts.",
            "admin": "The coordinator is still reading its log: ask again.",
        },
    ),
    15: (
        "No broker can coordinate this key for now, mostly because the internal topic is missing or has no leader.",
        "Repeat FindCoordinator. On few brokers check offsets.topic.replication.factor and transaction.state.log.replication.factor: they must not exceed the live brokers.",
        {
            "producer": "No broker coordinates this transactional id: see whether those with replicas of __transaction_state run, and that transaction.state.log.replication.factor is not above the number of brokers.",
            "consumer": "No broker coordinates this group: see whether those with replicas of __consumer_offsets run, and that offsets.topic.replication.factor is not above the number of brokers.",
            "admin": "No broker coordinates it: see whether those with replicas of __consumer_offsets or __transaction_state run.",
        },
    ),
    16: (
        "Another broker looks after this group or transactional id.",
        "Send FindCoordinator (KeyType 0 group, 1 transaction, 2 share) and repeat the request at the broker it names. The coordinator moved, or the test kept an old address.",
        {
            "producer": "The coordinator moves too often: see whether brokers lose their sessions at the controller.",
            "consumer": "The coordinator moves too often: see whether brokers lose their sessions at the controller.",
            "admin": "Ask again: the coordinator has just moved.",
        },
    ),
    17: (
        "The topic name is not allowed, or a client tried to write to an internal topic.",
        "Use 1 to 249 characters of a-z A-Z 0-9 . _ - and not just \".\" or \"..\". Offsets go in through OffsetCommit or TxnOffsetCommit, not through Produce.",
        {
        },
    ),
    18: (
        "A batch is bigger than a whole log segment of this partition may be.",
        "Raise segment.bytes of the topic or lower batch.size of the producer. Tests that shrink segments to make them roll run into this.",
        {
        },
    ),
    19: (
        "For acks=all too few replicas are in sync; or, on Produce v3-11, markers of the last transaction are outstanding.",
        "Start followers or lower min.insync.replicas. If all are in sync, it stands for CONCURRENT_TRANSACTIONS: retry until the markers are written.",
        {
            "producer": "Start the brokers that are down, or lower min.insync.replicas: an acknowledgement by all needs more replicas in sync.",
            "consumer": "Start the brokers that are down: __consumer_offsets has too few replicas in sync to take a commit.",
            "admin": "Start the brokers that are down: too few replicas are in sync.",
        },
    ),
    20: (
        "The leader wrote the batch, then lost followers, so fewer replicas than min.insync.replicas confirmed it.",
        "Resend with the same producer id and sequence: the repeat is recognised. Without idempotence the record is written twice. Look for a follower that stopped just then.",
        {
            "producer": "The record is written and too few replicas have it. An idempotent producer writes it once; start the brokers that are down.",
        },
    ),
    21: (
        "Produce asked for an Acks value that does not exist.",
        "Set acks to 0, 1 or all (-1 on the wire). Brokers take a transactional batch with 1, but most client libraries insist on all.",
        {
        },
    ),
    22: (
        "The generation is not the group's present one (in TxnOffsetCommit also the member epoch): a rebalance came in between.",
        "Abort, join again, re-read the committed offsets, go on from there. Hand fresh group metadata to each transactional commit; one kept from before a rebalance ends here.",
        {
            "producer": "The consumer's group has gone on without it: abort, and read again from the committed offsets. Give send_offsets fresh group_metadata() each time.",
            "consumer": "The group has gone on without this member: it joins again by itself, and reads from the committed offsets.",
        },
    ),
    23: (
        "A joining member differs from the group in protocol type, or no assignor is common to all members.",
        "Give all members one protocol type and at least one common partition.assignment.strategy. Members left over from an earlier test with the same group.id count as well.",
        {
            "consumer": "Give all members a common partition_assignment_strategy, and no other kind of member the same group_id.",
        },
    ),
    24: (
        "The group id is empty or missing where the API needs one.",
        "Set group.id. In TxnOffsetCommit check that the consumer's group metadata, not a blank one, reached the call.",
        {
        },
    ),
    25: (
        "The group has no member with this id: it never joined, has left, or was dropped when its session ran out.",
        "Abort an open transaction, then join with an empty member id. A stand-alone producer commits with generation -1 and no member. Suspects: session.timeout.ms, a clock moved on.",
        {
            "producer": "The consumer is no member of its group any more: abort, and read again from the committed offsets.",
            "consumer": "The group has put this member out (session_timeout_ms, max_poll_interval_ms): it joins again by itself.",
        },
    ),
    26: (
        "JoinGroup gave a session timeout that the broker finds too short or too long.",
        "Keep session.timeout.ms between the broker's group.min.session.timeout.ms (6000) and group.max.session.timeout.ms (1800000), or widen these for a fast test.",
        {
            "consumer": "Set session_timeout_ms between the broker's group.min.session.timeout.ms and group.max.session.timeout.ms.",
        },
    ),
    27: (
        "The classic group is between two generations: its members are being collected or wait for their assignment.",
        "Send JoinGroup, then SyncGroup, and go on with the new generation. A commit refused here can be sent again after SyncGroup if the partition was kept; otherwise abort.",
        {
            "producer": "Abort: the group is giving out its partitions anew.",
            "consumer": "Ask for records again: the rebalance is joined by that. Commit after it what is still yours.",
        },
    ),
    28: (
        "The offsets of one commit are too much for a single batch of the offsets topic, so none of it was stored.",
        "Commit fewer partitions per request or shorter metadata, or raise max.message.bytes of __consumer_offsets.",
        {
        },
    ),
    29: (
        "The principal lacks a right on a topic of the request, which may be Read, Write, Describe, Create, Delete or Alter.",
        "CreateAcls: Write to produce, Read to fetch or commit offsets, Describe for Metadata. The answer names the topics: grant the right or leave them out.",
        {
            "producer": "Grant this user Write on the topic (`kafka-acls --add --producer`).",
            "consumer": "Grant this user Read on the topic (`kafka-acls --add --consumer`).",
            "admin": "Grant this user what the call needs on the topic: Create, Delete, Alter, AlterConfigs or Describe.",
        },
    ),
    30: (
        "The principal lacks a right on this consumer group.",
        "CreateAcls on the group: Read for JoinGroup, OffsetCommit, AddOffsetsToTxn and TxnOffsetCommit, Describe for OffsetFetch, Delete for DeleteGroups.",
        {
            "producer": "Grant this user Read on the group.",
            "consumer": "Grant this user Read on the group (`kafka-acls --add --consumer --group`).",
            "admin": "Grant this user Describe, Read or Delete on the group.",
        },
    ),
    31: (
        "The principal lacks a right on the cluster itself: a call between brokers, an admin action or an idempotent write.",
        "Grant ClusterAction for WriteTxnMarkers and batched AddPartitionsToTxn, Alter for admin calls, IdempotentWrite (or Write on a topic) for InitProducerId without an id.",
        {
            "producer": "Grant this user Write on a topic, or IdempotentWrite on the cluster.",
            "admin": "Grant this user Alter or Describe on the cluster.",
        },
    ),
    32: (
        "A record's timestamp is further from the broker's clock than the topic accepts.",
        "Check message.timestamp.before.max.ms and message.timestamp.after.max.ms of the topic, and whether the test moved the broker's clock while the client kept real time.",
        {
            "producer": "Correct timestamp_ms, or widen message.timestamp.before.max.ms and message.timestamp.after.max.ms of the topic. Has a test moved the broker's clock?",
        },
    ),
    33: (
        "SaslHandshake asked for a mechanism that this listener does not offer.",
        "Set sasl.mechanism to one of the Mechanisms in the SaslHandshake answer, or add yours to sasl.enabled.mechanisms of the broker.",
        {
        },
    ),
    34: (
        "A step of the SASL exchange came out of turn, such as SaslAuthenticate with no handshake before it.",
        "Order on a connection: ApiVersions if wanted, SaslHandshake v1, SaslAuthenticate until done, the rest. Check security.protocol: a PLAINTEXT port takes no SASL steps.",
        {
        },
    ),
    35: (
        "The broker does not serve this API version, or the request uses a field or value that needs a version or feature it lacks.",
        "Send ApiVersions, take the highest version both sides have. Also: InitProducerId with KeepPreparedTxn, ListOffsets -3 below v7, OffsetCommit v8 by a KIP-848 member.",
        {
        },
    ),
    36: (
        "CreateTopics named a topic that is there already.",
        "Count it as done if its settings fit; else DeleteTopics first or use one name per test. A Metadata request may have auto-created it (AllowAutoTopicCreation).",
        {
        },
    ),
    37: (
        "The number of partitions makes no sense: below 1, or not higher than what the topic has.",
        "CreateTopics: 1 or more, or -1 (v4+) for num.partitions of the broker. CreatePartitions: Count is the new total and must grow; partitions never go away.",
        {
        },
    ),
    38: (
        "The topic should have more replicas than there are live brokers, or fewer than one.",
        "On one broker use 1, or -1 (v4+) for default.replication.factor. Otherwise start more brokers first and wait until DescribeCluster lists them.",
        {
        },
    ),
    39: (
        "A replica assignment made by hand names unknown or repeated brokers, leaves a gap, or varies in length.",
        "Number partitions from 0 without gaps, list known broker ids once each and equally many everywhere; leave NumPartitions and ReplicationFactor at -1.",
        {
        },
    ),
    40: (
        "A setting of a topic, broker, group or client has an unknown name or a value it cannot take.",
        "Read ErrorMessage, which names the setting. DescribeConfigs lists the names; IncrementalAlterConfigs with ValidateOnly tries a value without keeping it.",
        {
        },
    ),
    41: (
        "Only the active controller may do this, and the node that was asked is not the one.",
        "Find it with DescribeQuorum (LeaderId) and ask there. Brokers pass client requests on, so this points to an election or to a request sent to a controller's port.",
        {
        },
    ),
    42: (
        "The request was readable, but its fields contradict each other or break a rule of this API.",
        "Look for an empty transactional id, a producer id without epoch in InitProducerId, one item twice, or an empty client software name in ApiVersions v3+.",
        {
        },
    ),
    43: (
        "The partition stores a record format too old for what was asked, such as transactions.",
        "Use batches of magic 2 and raise log.message.format.version on that broker. Only brokers older than Kafka 4 keep other formats, so see which one answered.",
        {
        },
    ),
    44: (
        "A policy plug-in turned down the topic or configuration that was asked for.",
        "Read ErrorMessage for the rule. Change the request, or take create.topic.policy.class.name or alter.config.policy.class.name off the controller.",
        {
        },
    ),
    45: (
        "A gap: the batch does not continue this producer id and epoch on the partition, or is a repeat too old to recognise.",
        "Abort; the next epoch starts at 0. In raw requests: count sequences per partition, start each new epoch at 0, repeat only one of the last five batches, unchanged.",
        {
            "producer": "Records before it were lost, so later ones are refused: abort and send the transaction's records again. Without transactions look for the error of the earlier record.",
        },
    ),
    46: (
        "The partition holds these sequence numbers already, and the broker no longer knows at which offset.",
        "Count the records as written. Newer brokers answer a repeat of the last five batches with NONE, an older one with OUT_OF_ORDER_SEQUENCE_NUMBER.",
        {
        },
    ),
    47: (
        "The producer epoch is not the current one. Produce and TxnOffsetCommit say it in every version, others only in old ones.",
        "Send InitProducerId (v4+) with own id and epoch: after a time-out it gives the next epoch; if another producer took over, it fails with PRODUCER_FENCED: close.",
        {
            "producer": "A time-out aborted the transaction, or another producer has this transactional_id: close this one, and start anew from the committed offsets.",
        },
    ),
    48: (
        "The call does not fit the transaction: none is open, the opposite outcome stands, or the partition is not part of it.",
        "See DescribeTransactions. Usual: commit of an empty or timed-out transaction, Produce v3-10 without AddPartitionsToTxn. Restart the producer with InitProducerId.",
        {
            "producer": "The coordinator has ended this transaction otherwise, mostly by its time-out: close this producer and start a new one. `fencepost transactions describe ID` shows its state.",
        },
    ),
    49: (
        "The coordinator knows no such transactional id, or another producer id belongs to it.",
        "Send InitProducerId, use the id it gives. Causes: transactional.id.expiration.ms (7 days) passed on the broker's clock, ids swapped between producers, data wiped.",
        {
            "producer": "The coordinator does not know this producer any more (transactional.id.expiration.ms, or its data were wiped): close it and start a new one.",
        },
    ),
    50: (
        "InitProducerId asked for a transaction timeout that is not above zero or exceeds the broker's limit.",
        "Lower transaction.timeout.ms of the producer, or raise transaction.max.timeout.ms (900000) of the broker.",
        {
            "producer": "Lower transaction_timeout_ms, or raise transaction.max.timeout.ms (900000) of the broker.",
        },
    ),
    51: (
        "Markers of this id's last transaction are not all acknowledged yet, or InitProducerId has just begun to abort an open one.",
        "Resend after 20 ms or so. If it lasts, a WriteTxnMarkers is stuck: its leader is gone. Fencepost parks adds and InitProducerId up to transaction.park.max.ms first.",
        {
            "producer": "The last transaction is still being ended: try again. `fencepost transactions explain ID` says which marker is missing, and who does not take it.",
        },
    ),
    52: (
        "WriteTxnMarkers came with a coordinator epoch below the highest this partition has seen for the producer.",
        "The sender has lost its partition of the transaction log: give up the marker, the successor writes it. In raw requests take CoordinatorEpoch from DescribeProducers.",
        {
        },
    ),
    53: (
        "The principal may not use this transactional id, Produce left the id out, or two-phase commit is not allowed.",
        "CreateAcls: Write on the TransactionalId. Put TransactionalId into Produce when the batch is transactional. Enable2Pc needs transaction.two.phase.commit.enable.",
        {
            "producer": "Grant this user Write on the transactional id (`kafka-acls --add --transactional-id`).",
            "admin": "Grant this user Describe on the transactional id.",
        },
    ),
    54: (
        "An ACL request reached a cluster that has no authoriser.",
        "Set authorizer.class.name on brokers and controllers, or leave the ACL calls out of the test.",
        {
        },
    ),
    55: (
        "Nothing wrong with this item: it was skipped because another one of the request failed.",
        "Find the item with another code, correct or drop it, send all again. AddPartitionsToTxn v0-3 with one unknown topic adds none of its partitions.",
        {
        },
    ),
    56: (
        "Reading or writing a log directory failed, and the broker has taken the directory out of use.",
        "Send Metadata, go to the new leader. Look for a broken disk, a full volume or missing rights on log.dirs; restart the broker to bring the directory back.",
        {
            "producer": "The broker's disk is full or broken: look at its log. Another replica leads as soon as it is out.",
            "consumer": "The broker's disk is full or broken: look at its log. Another replica leads as soon as it is out.",
            "admin": "The broker's disk is full or broken: look at its log.",
        },
    ),
    57: (
        "The directory named is not among the log directories of this broker.",
        "Take an absolute path out of log.dirs of that very broker; DescribeLogDirs lists them.",
        {
        },
    ),
    58: (
        "The login was refused, and the broker closes the connection after this answer.",
        "Check user, password, sasl.mechanism and the listener. A SCRAM user must exist first (AlterUserScramCredentials). The answer does not tell which part was wrong, on purpose.",
        {
        },
    ),
    59: (
        "The partition remembers nothing of this producer id, yet the batch does not start at sequence 0.",
        "Abort, send InitProducerId with own id and epoch (v3+), begin at sequence 0. Only old brokers say it; newer ones take any first sequence from a producer new to them.",
        {
            "producer": "Abort, and send the records again in a new transaction.",
        },
    ),
    60: (
        "Replicas of the partition are being moved, and this change has to wait for that.",
        "Poll ListPartitionReassignments until the partition is gone, or cancel with AlterPartitionReassignments and Replicas null; then repeat.",
        {
        },
    ),
    61: (
        "A token API was used on a cluster where delegation tokens are switched off.",
        "Set delegation.token.secret.key to one value on all brokers and controllers and restart them.",
        {
        },
    ),
    62: (
        "No token belongs to this HMAC: it was never issued, or has been expired and removed.",
        "List with DescribeDelegationToken, get a new one with CreateDelegationToken. A clock moved past the expiry time makes tokens vanish.",
        {
        },
    ),
    63: (
        "The one who wants to renew or expire the token is neither its owner nor one of its renewers.",
        "Log in as the owner, or name this principal among the Renewers of CreateDelegationToken.",
        {
        },
    ),
    64: (
        "The session is not trusted with tokens: it has no login of its own, or came in by a token itself.",
        "Connect to a SASL listener with a password or Kerberos, or with a TLS client certificate, then send the token request again.",
        {
        },
    ),
    65: (
        "The principal lacks a right on this delegation token or on the user it acts for.",
        "CreateAcls: Describe on the DelegationToken; CreateTokens and DescribeTokens on the User for tokens of somebody else.",
        {
        },
    ),
    66: (
        "The token is past its expiry time or its longest possible life.",
        "Create a new token and log in with it. Renew before delegation.token.expiry.time.ms; delegation.token.max.lifetime.ms is the end. Moving the clock gets here at once.",
        {
        },
    ),
    67: (
        "A token request names an owner or renewer of a principal type that is not supported.",
        "Use PrincipalType \"User\", capital U.",
        {
        },
    ),
    68: (
        "The group still has members, so what was asked (such as DeleteGroups) cannot be done.",
        "Close the consumers, send LeaveGroup, or let session.timeout.ms pass by moving the clock; then repeat. Static members stay on until their session ends.",
        {
            "admin": "Stop the group's members, or take them out with `remove_group_members`; then repeat.",
        },
    ),
    69: (
        "The coordinator keeps no group of this id, or one of another type.",
        "Check group.id, create the group by joining. DeleteGroups and OffsetDelete say it, DescribeGroups from v6; OffsetFetch answers -1 with NONE for an unknown group instead.",
        {
        },
    ),
    70: (
        "The broker no longer has this incremental fetch session, or never had it.",
        "Send a full Fetch with SessionId 0 and SessionEpoch 0. Causes: broker restarted, max.incremental.fetch.session.cache.slots (1000) used up, request sent to another broker.",
        {
        },
    ),
    71: (
        "The epoch of an incremental fetch is not the one the session expects next.",
        "Add 1 per Fetch (2147483647 is followed by 1), one request at a time per session. Recover by a full Fetch with SessionId 0 and SessionEpoch 0.",
        {
        },
    ),
    72: (
        "The partition's leader has no listener named like the one this client came in by, so there is no address to give.",
        "Give all brokers the same listener names in listeners and advertised.listeners, then send Metadata again.",
        {
        },
    ),
    73: (
        "The cluster is configured never to delete topics.",
        "Set delete.topic.enable=true on the controllers, or empty the topic with DeleteRecords.",
        {
        },
    ),
    74: (
        "The client reckons with a former leader epoch: an election went by without its notice.",
        "Send Metadata, put the new LeaderEpoch into CurrentLeaderEpoch, check the position with OffsetForLeaderEpoch, then go on.",
        {
        },
    ),
    75: (
        "The leader epoch given is ahead of what this broker knows: its metadata lag behind, or the number is made up.",
        "Back off and resend; the broker catches up within moments. In raw requests give the LeaderEpoch of Metadata, or -1 for no check.",
        {
        },
    ),
    76: (
        "The batch is compressed in a way that this API version or partition does not take; in practice zstd.",
        "Zstd needs Produce v7+ and Fetch v10+. With an older client set compression.type to lz4, snappy, gzip or none, on the producer and on the topic.",
        {
        },
    ),
    77: (
        "A broker showed the epoch of a former registration, or was never registered.",
        "Send BrokerRegistration and use the BrokerEpoch it returns (an offset in the metadata log). AllocateProducerIds with -1 or an old epoch ends here.",
        {
        },
    ),
    78: (
        "A fresh leader cannot yet tell its high watermark, so ListOffsets has nothing safe to say.",
        "Back off and resend. Its followers must fetch once in the new epoch; if it lasts, check that one in sync is alive and not too slow.",
        {
            "consumer": "Read again: the new leader waits for its followers. If it lasts, a replica in sync is down or too slow.",
        },
    ),
    79: (
        "Not a failure: JoinGroup handed the newcomer its member id and waits for the join to be repeated with it.",
        "Send JoinGroup again with the MemberId of this answer. Only v4+ without group.instance.id takes this extra step.",
        {
        },
    ),
    80: (
        "A preferred election did nothing: the replica that comes first is down or out of sync.",
        "Start that broker, wait until Metadata has it in IsrNodes, send ElectLeaders again.",
        {
        },
    ),
    81: (
        "The group has as many members as it may have; this one was turned away.",
        "Raise group.max.size (classic) or group.consumer.max.size (KIP-848). Members left by an earlier test count until their session ends.",
        {
            "consumer": "Raise group.max.size (classic) or group.consumer.max.size (KIP-848) of the broker, or start fewer members.",
        },
    ),
    82: (
        "Another consumer joined under the same group.instance.id, and its member id has replaced this one's.",
        "Abort, close this consumer; or give each running one its own group.instance.id. A transactional commit must carry the member id that the instance has now.",
        {
            "producer": "Another consumer has this group_instance_id: abort, and close both this producer and its consumer.",
            "consumer": "Another consumer has this group_instance_id: close one of the two, or give each its own.",
        },
    ),
    83: (
        "No replica that is allowed to lead this partition is alive.",
        "Start a broker of the last in-sync set. If loss is acceptable: ElectLeaders with ElectionType 1, or unclean.leader.election.enable=true on the topic.",
        {
        },
    ),
    84: (
        "ElectLeaders had nothing to change: the leader is already the wanted one or, for an unclean election, there is one.",
        "Count it as success and do not send it again for this partition.",
        {
        },
    ),
    85: (
        "A reassignment should be cancelled on a partition that has none.",
        "It is finished or never began: compare ListPartitionReassignments. When racing with completion, count it as done.",
        {
        },
    ),
    86: (
        "OffsetDelete left this topic alone, as a member of the group consumes it.",
        "Unsubscribe or close these consumers first; committed offsets of topics nobody in the group subscribes to can go at any time.",
        {
        },
    ),
    87: (
        "A record or batch breaks a rule: control batch from a client, several or empty batches, wrong magic, keyless when compacted.",
        "Send one non-empty magic 2 batch per partition, control bit clear, offset deltas from 0, keys if cleanup.policy=compact. RecordErrors (Produce v8+) may name the record.",
        {
            "producer": "A compacted topic needs keys, and a record needs bytes that fit its codec: the message says what is wrong.",
        },
    ),
    88: (
        "OffsetFetch with RequireStable met an offset that an unfinished transaction is about to commit.",
        "Resend until the markers are in; at worst transaction.timeout.ms ends it (move the clock). RequireStable false answers the last committed offset.",
        {
            "producer": "A transaction with offsets of this group is still being ended: try again.",
            "consumer": "A transaction with offsets of this group is still being ended: try again. `fencepost transactions list` shows it.",
        },
    ),
    89: (
        "The quota for creating or deleting partitions is used up, and the request was refused rather than delayed.",
        "Wait ThrottleTimeMs, then resend. If tests create many topics, raise controller_mutation_rate with AlterClientQuotas.",
        {
            "admin": "Wait and try again: quotas slow this user or client down (`describe_client_quotas` of Kafka's tools).",
        },
    ),
    90: (
        "The epoch given is not the current one: mostly another producer initialised this transactional id, or a time-out aborted it.",
        "Another producer with this transactional.id called InitProducerId: close this one, or give each its own id. After a mere time-out InitProducerId with own id and epoch works.",
        {
            "producer": "Another producer with this transactional_id has taken over: close this one. If both shall run, give each an id of its own.",
        },
    ),
    91: (
        "A named thing is unknown to the cluster, most often a SCRAM user.",
        "Create it first (AlterUserScramCredentials with an upsertion), check the spelling, or describe with Users null to see them all.",
        {
        },
    ),
    92: (
        "One request names the same user or entity more than once.",
        "Merge the entries: one per user when describing, one per user and mechanism when altering SCRAM credentials.",
        {
        },
    ),
    93: (
        "A SCRAM credential was refused: iterations out of range, unknown mechanism, or an empty name.",
        "Use 4096 to 16384 iterations, mechanism 1 (SCRAM-SHA-256) or 2 (SCRAM-SHA-512) and a user name that is not empty.",
        {
        },
    ),
    94: (
        "A quorum request passed between two nodes whose ideas of the voters do not match.",
        "Give all controllers the same controller.quorum.voters, or bootstrap servers with kraft.version 1; compare their DescribeQuorum answers.",
        {
        },
    ),
    95: (
        "A version cannot be applied: unknown feature, unsupported level, unmarked downgrade, or stale partition epoch.",
        "Compare SupportedFeatures in ApiVersions. Lowering a level needs UpgradeType 2 (safe) or 3 (unsafe), not 1. In AlterPartition use the latest PartitionEpoch.",
        {
        },
    ),
    96: (
        "The levels asked for were valid, but the controller could not bring the feature update to an end.",
        "Read ErrorMessage, check that every registered broker and controller supports the level, try with ValidateOnly first.",
        {
        },
    ),
    97: (
        "A broker forwarded a client's request in an Envelope, and the controller could not decode who the client was.",
        "Use the same principal.builder.class on brokers and controllers, one that implements KafkaPrincipalSerde; in raw tests check RequestPrincipal.",
        {
        },
    ),
    98: (
        "FetchSnapshot named a snapshot of the metadata log that the node does not have any more.",
        "Fetch the metadata log: the answer's SnapshotId is the one to load. Old ones go by metadata.max.retention.ms and metadata.max.retention.bytes.",
        {
        },
    ),
    99: (
        "FetchSnapshot asked for a Position outside the snapshot.",
        "Go on where the last piece ended and stop at Size; begin at 0 whenever SnapshotId changes.",
        {
        },
    ),
    100: (
        "No topic with this id is known here: deleted, created anew under the same name, or not heard of yet.",
        "Send Metadata with the name for the present TopicId. Deleting and creating a topic in a test changes it; Produce and Fetch v13+ carry the id only.",
        {
            "producer": "The topic was deleted and made again: send again, which goes to the new one.",
            "consumer": "The topic was deleted and made again: its offsets begin anew.",
        },
    ),
    101: (
        "A second process registers under a broker id whose first owner still counts as alive.",
        "Give each broker its own node.id. After a hard kill wait for broker.session.timeout.ms (9000), or move the clock, before starting it again.",
        {
        },
    ),
    102: (
        "The controller has no registration for this broker id.",
        "Send BrokerRegistration before BrokerHeartbeat. For UnregisterBroker compare the ids with DescribeCluster.",
        {
        },
    ),
    103: (
        "Name and id do not belong together on this broker; most likely the topic was deleted and created again.",
        "Send Metadata and drop cached ids. If it lasts, a log directory comes from another cluster or from before the deletion.",
        {
        },
    ),
    104: (
        "The sender believes to be in a cluster with another id than this node's.",
        "Compare cluster.id in meta.properties with DescribeCluster. Two test clusters that share a port or a data directory end up here.",
        {
        },
    ),
    105: (
        "DescribeTransactions: this coordinator holds no state for the transactional id.",
        "Find the right coordinator first (FindCoordinator, KeyType 1). ListTransactions shows what exists; idle ids go after transactional.id.expiration.ms.",
        {
        },
    ),
    106: (
        "One fetch session was used with topic names and with topic ids.",
        "Open a new session (SessionId 0, SessionEpoch 0) and stay with Fetch v13+ or with v12 and below in it.",
        {
        },
    ),
    107: (
        "AlterPartition wants a replica in the in-sync set whose broker is fenced or shutting down.",
        "Leave it out; propose it again when its heartbeats have unfenced it and the broker epoch given for it is current.",
        {
        },
    ),
    108: (
        "The new in-sync set was taken, and with it leadership passed from the sender to another replica (AlterPartition).",
        "Stop leading, wait for the new leader in the metadata log, and answer clients NOT_LEADER_OR_FOLLOWER meanwhile.",
        {
        },
    ),
    109: (
        "A follower asked for an offset that the leader keeps only in remote storage by now.",
        "Ask ListOffsets -4 for the first local offset, rebuild the state before it from the remote log, fetch from there. For replicas only; consumers do not get it.",
        {
        },
    ),
    110: (
        "The coordinator has shut out this KIP-848 member because its epoch is not acceptable any more.",
        "Abort, drop all partitions, then send the group heartbeat with MemberEpoch 0 and the same member id. Long pauses and a clock moved on cause it.",
        {
            "producer": "The consumer's group has gone on without it: abort, and read again from the committed offsets.",
            "consumer": "The group has gone on without this member: it joins again by itself, and reads from the committed offsets.",
        },
    ),
    111: (
        "A static consumer wants a group.instance.id that a living member still holds.",
        "Close the other one (it says goodbye with MemberEpoch -2), or let group.consumer.session.timeout.ms pass, then join with epoch 0.",
        {
            "consumer": "Another consumer still has this group_instance_id: close it, or wait until its session is over.",
        },
    ),
    112: (
        "The consumer asks for a server-side assignor that the coordinator does not have.",
        "Set group.remote.assignor to uniform or range, to another name in group.consumer.assignors, or leave it unset.",
        {
            "consumer": "Set group_remote_assignor to uniform or range, or leave it out.",
        },
    ),
    113: (
        "OffsetCommit v9+ or OffsetFetch v9+ gave another member epoch than the coordinator holds for this consumer.",
        "Heartbeat, take the epoch from the answer, commit again. In TxnOffsetCommit the same slip is called ILLEGAL_GENERATION.",
        {
            "producer": "The consumer's group has gone on: abort, and give send_offsets fresh group_metadata().",
            "consumer": "Commit again: the group has just gone on.",
        },
    ),
    114: (
        "DescribeCluster asked a broker for controllers, or a controller for brokers.",
        "EndpointType 1 belongs to broker ports (bootstrap.servers), 2 to controller ports (bootstrap.controllers).",
        {
        },
    ),
    115: (
        "DescribeCluster gave an EndpointType number that means nothing to this node.",
        "Send 1 for brokers or 2 for controllers, nothing else.",
        {
        },
    ),
    116: (
        "The controller id in the request belongs to no known controller.",
        "Compare node.id with DescribeQuorum; a controller must have sent ControllerRegistration before others refer to it.",
        {
        },
    ),
    117: (
        "PushTelemetry used a subscription that has been replaced since; the set of metrics wanted has changed.",
        "Send GetTelemetrySubscriptions and push again under the SubscriptionId it gives.",
        {
        },
    ),
    118: (
        "PushTelemetry carried more bytes than the broker takes.",
        "Stay below TelemetryMaxBytes of GetTelemetrySubscriptions (telemetry.max.bytes on the broker): compress, or send fewer metrics.",
        {
        },
    ),
    119: (
        "The controller refused to register a broker or controller as it describes itself.",
        "Check its listeners, log directory ids and supported feature ranges against the finalised levels; the controller's log names the misfit.",
        {
        },
    ),
    120: (
        "This transaction can no longer be committed; its producer is sound.",
        "EndTxn(abort), begin anew. Typical: Produce v11 or TxnOffsetCommit v4 without AddPartitionsToTxn or AddOffsetsToTxn, or a VerifyOnly check for a missing partition.",
        {
            "producer": "Abort, and do the same work again in a new transaction.",
        },
    ),
    121: (
        "ShareAcknowledge names records that this consumer does not hold: not acquired, settled already, or the lock ran out.",
        "Acknowledge each record once, within group.share.record.lock.duration.ms (30000) after ShareFetch. What was not settled is delivered again.",
        {
        },
    ),
    122: (
        "The broker has no share session for this member: none was opened here, or it ended with its connection.",
        "Send ShareFetch with ShareSessionEpoch 0 to open one. Sessions belong to one broker and one connection.",
        {
        },
    ),
    123: (
        "ShareFetch or ShareAcknowledge came out of turn: not the epoch this share session expects next.",
        "0 opens, then 1, 2, 3, and -1 closes; one request at a time. Start again with ShareSessionEpoch 0.",
        {
        },
    ),
    124: (
        "A share partition's state was written or read with an epoch that the share coordinator has left behind.",
        "Another leader or a newer initialisation took over: stop using this share partition's state, then begin with ReadShareGroupState under the present epoch.",
        {
        },
    ),
    125: (
        "A quorum request was meant for another voter: node id or directory id is not the receiver's.",
        "Take both ids from DescribeQuorum v2 and meta.properties. Formatting a node's storage again gives it a new directory id.",
        {
        },
    ),
    126: (
        "AddRaftVoter names a node that votes already.",
        "Count it as done. To replace its disk, send RemoveRaftVoter with the old directory id first.",
        {
        },
    ),
    127: (
        "RemoveRaftVoter or UpdateRaftVoter names a node that does not vote.",
        "Give node id and directory id exactly as DescribeQuorum v2 lists them under CurrentVoters.",
        {
        },
    ),
    128: (
        "A pattern in the request does not compile: a topic subscription or a filter of transactional ids.",
        "Write it for RE2: no look-ahead, no back-references. It is SubscribedTopicRegex (ConsumerGroupHeartbeat v1+) or TransactionalIdPattern (ListTransactions v2+).",
        {
        },
    ),
    129: (
        "The node wants the client to forget all brokers it has learnt and to begin again from its bootstrap list.",
        "Close the connections, look up bootstrap.servers, send Metadata; with metadata.recovery.strategy=rebootstrap clients do so alone. Otherwise restart the client.",
        {
        },
    ),
    130: (
        "A Streams member described a topology that the group coordinator cannot work with.",
        "Check source, repartition and changelog topics and copartition groups in StreamsGroupHeartbeat; the status detail of the answer names the fault.",
        {
        },
    ),
    131: (
        "The topology epoch that a Streams member sent does not go with the one of its group.",
        "Send the epoch under which this topology was first given (0 for a new group) and raise it only together with a changed topology.",
        {
        },
    ),
    132: (
        "This Streams instance runs an older topology than its group has moved on to.",
        "Restart it with the same build of the application as the others, or use another application.id for the other build.",
        {
        },
    ),
    133: (
        "The broker holds as many share sessions as it may and opens no further one.",
        "Back off and resend, close idle share consumers, or raise group.share.max.share.sessions.",
        {
        },
    ),
}

package main

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What only administrators ask.
func cluster(s *script) error {
	connection, err := s.adminClient()
	if err != nil {
		return err
	}
	defer connection.Close()
	client := kadm.NewClient(connection)
	topic := s.name("cluster")
	if err := s.createTopic(topic, 1); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), giveUp)
	defer cancel()
	if _, err := s.produce(ctx, into(0, topic, numbered(0, 5, topic)...)); err != nil {
		return err
	}
	brokers, err := client.ListBrokers(ctx)
	if err != nil {
		return err
	}
	broker := brokers[0].NodeID
	place := make(kadm.TopicsSet)
	place.Add(topic, 0)

	s.check("describe-features", func(ctx context.Context) error {
		versions, err := client.ApiVersions(ctx)
		if err != nil {
			return err
		}
		only := versions[broker]
		raw := only.Raw()
		supported := slices.ContainsFunc(
			raw.SupportedFeatures,
			func(one kmsg.ApiVersionsResponseSupportedFeature) bool { return one.Name == "metadata.version" },
		)
		finalized := slices.ContainsFunc(
			raw.FinalizedFeatures,
			func(one kmsg.ApiVersionsResponseFinalizedFeature) bool { return one.Name == "metadata.version" },
		)
		return all(
			expect(supported, true, "supported"),
			expect(finalized, true, "finalized"),
			expect(raw.FinalizedFeaturesEpoch >= 0, true, "an epoch"),
		)
	})
	s.check("describe-quorum", func(ctx context.Context) error {
		// kadm has no such call.
		request := kmsg.NewPtrDescribeQuorumRequest()
		asked := kmsg.NewDescribeQuorumRequestTopic()
		asked.Topic = "__cluster_metadata"
		asked.Partitions = []kmsg.DescribeQuorumRequestTopicPartition{{Partition: 0}}
		request.Topics = append(request.Topics, asked)
		response, err := request.RequestWith(ctx, connection)
		if err != nil {
			return err
		}
		if err := kerr.ErrorForCode(response.ErrorCode); err != nil {
			return err
		}
		partition := response.Topics[0].Partitions[0]
		if err := expect(len(partition.CurrentVoters), 1, "the number of voters"); err != nil {
			return err
		}
		return all(
			kerr.ErrorForCode(partition.ErrorCode),
			expect(partition.LeaderID, broker, "the leader"),
			expect(partition.CurrentVoters[0].ReplicaID, broker, "the voter"),
		)
	})
	s.check("elect-leaders", func(ctx context.Context) error {
		unknown := s.name("unknown")
		places := make(kadm.TopicsSet)
		places.Add(topic, 0)
		places.Add(unknown, 0)
		results, err := client.ElectLeaders(ctx, kadm.ElectPreferredReplica, places)
		if err != nil {
			return err
		}
		return all(
			refused(results[topic][0].Err, kerr.ElectionNotNeeded),
			refused(results[unknown][0].Err, kerr.UnknownTopicOrPartition),
		)
	})
	s.check("describe-producers", func(ctx context.Context) error {
		described, err := client.DescribeProducers(ctx, place)
		if err != nil {
			return err
		}
		partition := described[topic].Partitions[0]
		producers := partition.ActiveProducers.Sorted()
		if err := all(partition.Err, expect(len(producers), 1, "the number of producers")); err != nil {
			return err
		}
		return all(
			expect(producers[0].LastSequence, int32(4), "the last sequence number"),
			expect(producers[0].CurrentTxnStartOffset, int64(-1), "the offset of an open transaction"),
		)
	})
	s.check("list-config-resources", func(ctx context.Context) error {
		listed, err := client.ListConfigResources(ctx, kadm.ConfigResourceType(kmsg.ConfigResourceTypeTopic))
		return all(
			err,
			listed.Err,
			expect(slices.Contains(listed.Names(), topic), true, "the topic is among the resources"),
		)
	})
	s.check("alter-replica-log-dirs", func(ctx context.Context) error {
		var moves kadm.AlterReplicaLogDirsReq
		moves.Add("/no/such/folder", place)
		moved, err := client.AlterBrokerReplicaLogDirs(ctx, broker, moves)
		if err != nil {
			return err
		}
		return refused(moved[topic][0].Err, kerr.LogDirNotFound)
	})
	return nil
}

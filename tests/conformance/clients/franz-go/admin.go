package main

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// kadm has no call to create a topic with replicas placed by hand; the request itself can.
func createAssigned(ctx context.Context, client *kgo.Client, topic string, broker int32) error {
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = 10_000
	newTopic := kmsg.NewCreateTopicsRequestTopic()
	newTopic.Topic, newTopic.NumPartitions, newTopic.ReplicationFactor = topic, -1, -1
	for partition := range int32(2) {
		assignment := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		assignment.Partition, assignment.Replicas = partition, []int32{broker}
		newTopic.ReplicaAssignment = append(newTopic.ReplicaAssignment, assignment)
	}
	request.Topics = append(request.Topics, newTopic)
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(response.Topics[0].ErrorCode)
}

type configs map[string]*kadm.Config

func settings(ctx context.Context, client *kadm.Client, topic string) (configs, error) {
	resources, err := client.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return nil, err
	}
	resource, err := resources.On(topic, nil)
	if err != nil {
		return nil, err
	}
	found := make(configs)
	for _, config := range resource.Configs {
		found[config.Key] = &config
	}
	return found, resource.Err
}

func alter(
	ctx context.Context, client *kadm.Client, topic string, changes ...kadm.AlterConfig,
) error {
	responses, err := client.AlterTopicConfigs(ctx, changes, topic)
	if err != nil {
		return err
	}
	response, err := responses.On(topic, nil)
	if err != nil {
		return err
	}
	return response.Err
}

func admin(s *script) error {
	connection, err := s.adminClient()
	if err != nil {
		return err
	}
	defer connection.Close()
	client := kadm.NewClient(connection)
	topic := s.name("admin")
	var broker int32
	own := map[string]*string{
		"retention.ms":      kadm.StringPtr("-1"),
		"max.message.bytes": kadm.StringPtr("20000"),
	}

	exists := func(ctx context.Context, name string) (bool, error) {
		topics, err := client.ListTopics(ctx)
		return topics.Has(name), err
	}
	s.check("describe-cluster", func(ctx context.Context) error {
		metadata, err := client.BrokerMetadata(ctx)
		if err != nil {
			return err
		}
		if err := expect(len(metadata.Brokers), 1, "the number of brokers"); err != nil {
			return err
		}
		only := metadata.Brokers[0]
		broker = only.NodeID
		return all(
			expect(fmt.Sprintf("%s:%d", only.Host, only.Port), s.bootstrap, "the broker"),
			expect(metadata.Controller, broker, "the controller"),
			expect(metadata.Cluster != "", true, "there is a cluster id"),
		)
	})
	s.check("create-topic", func(ctx context.Context) error {
		response, err := client.CreateTopic(ctx, 3, 1, own, topic)
		if err != nil {
			return err
		}
		for name, value := range own {
			config := response.Configs[name]
			if err := expect(config.MaybeValue(), *value, name+" in the answer"); err != nil {
				return err
			}
		}
		return all(
			expect(response.NumPartitions, int32(3), "partitions in the answer"),
			waitUntilKnown(ctx, client, topic),
		)
	})
	s.check("create-topic-again", func(ctx context.Context) error {
		_, err := client.CreateTopic(ctx, 3, 1, nil, topic)
		return refused(err, kerr.TopicAlreadyExists)
	})
	s.check("create-topic-bad-name", func(ctx context.Context) error {
		_, err := client.CreateTopic(ctx, 1, 1, nil, s.name("not a name!"))
		return refused(err, kerr.InvalidTopicException)
	})
	s.check("create-topic-validate-only", func(ctx context.Context) error {
		name := s.name("admin-validated")
		responses, err := client.ValidateCreateTopics(ctx, 1, 1, nil, name)
		if err != nil {
			return err
		}
		there, err := exists(ctx, name)
		return all(responses.Error(), err, expect(there, false, "the validated topic is there"))
	})
	s.check("create-topic-assignment", func(ctx context.Context) error {
		name := s.name("admin-assigned")
		if err := createAssigned(ctx, connection, name, broker); err != nil {
			return err
		}
		if err := waitUntilKnown(ctx, client, name); err != nil {
			return err
		}
		partitions, err := partitionsOf(ctx, client, name)
		return all(err, expect(len(partitions), 2, "partitions"))
	})
	s.check("list-topics", func(ctx context.Context) error {
		for _, name := range []string{topic, s.name("admin-assigned")} {
			there, err := exists(ctx, name)
			if err := all(err, expect(there, true, name+" is in the list")); err != nil {
				return err
			}
		}
		return nil
	})
	s.check("describe-topic", func(ctx context.Context) error {
		partitions, err := partitionsOf(ctx, client, topic)
		if err != nil {
			return err
		}
		for i, partition := range partitions {
			if err := all(
				expect(partition.Partition, int32(i), "the partition"),
				expect(partition.Leader, broker, "the leader"),
				expect(partition.Replicas, []int32{broker}, "the replicas"),
				expect(partition.ISR, []int32{broker}, "the in-sync replicas"),
			); err != nil {
				return err
			}
		}
		return expect(len(partitions), 3, "partitions")
	})
	s.check("describe-unknown-topic", func(ctx context.Context) error {
		name := s.name("admin-unknown")
		_, err := partitionsOf(ctx, client, name)
		if err := refused(err, kerr.UnknownTopicOrPartition); err != nil {
			return err
		}
		there, err := exists(ctx, name)
		return all(err, expect(there, false, "the unknown topic is there"))
	})
	adminConfigs(s, client, topic)
	adminRecords(s, client, topic)
	s.check("delete-topic", func(ctx context.Context) error {
		if _, err := client.DeleteTopic(ctx, topic); err != nil {
			return err
		}
		if err := eventually(ctx, "the topic is gone", func() (bool, error) {
			there, err := exists(ctx, topic)
			return !there, err
		}); err != nil {
			return err
		}
		_, err := client.DeleteTopic(ctx, topic)
		return refused(err, kerr.UnknownTopicOrPartition)
	})
	return nil
}

func adminConfigs(s *script, client *kadm.Client, topic string) {
	s.check("describe-configs", func(ctx context.Context) error {
		found, err := settings(ctx, client, topic)
		if err != nil {
			return err
		}
		return all(
			expect(found["retention.ms"].MaybeValue(), "-1", "retention.ms"),
			expect(found["max.message.bytes"].MaybeValue(), "20000", "max.message.bytes"),
			expect(found["max.message.bytes"].Source, kmsg.ConfigSourceDynamicTopicConfig, "its source"),
			expect(found["cleanup.policy"].MaybeValue(), "delete", "cleanup.policy"),
			expect(found["cleanup.policy"].Source, kmsg.ConfigSourceDefaultConfig, "its source"),
		)
	})
	s.check("alter-configs", func(ctx context.Context) error {
		hour, compact, soon := "3600000", "compact", "soon"
		if err := alter(ctx, client, topic,
			kadm.AlterConfig{Op: kadm.DeleteConfig, Name: "max.message.bytes"},
			kadm.AlterConfig{Op: kadm.SetConfig, Name: "segment.ms", Value: &hour},
			kadm.AlterConfig{Op: kadm.AppendConfig, Name: "cleanup.policy", Value: &compact},
		); err != nil {
			return err
		}
		if err := eventually(ctx, "the settings are altered", func() (bool, error) {
			found, err := settings(ctx, client, topic)
			return err == nil && found["retention.ms"].MaybeValue() == "-1" &&
				found["max.message.bytes"].MaybeValue() == "1048588" &&
				found["segment.ms"].MaybeValue() == "3600000" &&
				found["cleanup.policy"].MaybeValue() == "delete,compact", err
		}); err != nil {
			return err
		}
		bad := kadm.AlterConfig{Op: kadm.SetConfig, Name: "retention.ms", Value: &soon}
		if err := refused(alter(ctx, client, topic, bad), kerr.InvalidConfig); err != nil {
			return err
		}
		back := kadm.AlterConfig{Op: kadm.SubtractConfig, Name: "cleanup.policy", Value: &compact}
		if err := alter(ctx, client, topic, back); err != nil {
			return err
		}
		return eventually(ctx, "compact is taken away again", func() (bool, error) {
			found, err := settings(ctx, client, topic)
			return err == nil && found["cleanup.policy"].MaybeValue() == "delete", err
		})
	})
	s.check("create-partitions", func(ctx context.Context) error {
		responses, err := client.UpdatePartitions(ctx, 5, topic)
		if err := all(err, responses.Error()); err != nil {
			return err
		}
		if err := eventually(ctx, "5 partitions", func() (bool, error) {
			partitions, err := partitionsOf(ctx, client, topic)
			return len(partitions) == 5, err
		}); err != nil {
			return err
		}
		responses, err = client.UpdatePartitions(ctx, 2, topic)
		return all(err, refused(responses.Error(), kerr.InvalidPartitions))
	})
}

func adminRecords(s *script, client *kadm.Client, topic string) {
	offsetOf := func(listed kadm.ListedOffsets, err error) func(int64, string) error {
		return func(wanted int64, what string) error {
			return all(err, listed.Error(), expect(listed[topic][0].Offset, wanted, what))
		}
	}
	s.check("list-offsets", func(ctx context.Context) error {
		if _, err := s.produce(ctx, into(0, topic, numbered(0, 10, topic)...)); err != nil {
			return err
		}
		return all(
			offsetOf(client.ListStartOffsets(ctx, topic))(0, "earliest"),
			offsetOf(client.ListEndOffsets(ctx, topic))(10, "latest"),
			offsetOf(client.ListOffsetsAfterMilli(ctx, firstTimestamp+2500, topic))(3, "by timestamp"),
			offsetOf(client.ListMaxTimestampOffsets(ctx, topic))(9, "of the highest timestamp"),
		)
	})
	s.check("delete-records", func(ctx context.Context) error {
		before := make(kadm.Offsets)
		before.AddOffset(topic, 0, 4, -1)
		responses, err := client.DeleteRecords(ctx, before)
		if err := all(err, responses.Error()); err != nil {
			return err
		}
		response, _ := responses.Lookup(topic, 0)
		if err := all(
			expect(response.LowWatermark, int64(4), "the low watermark"),
			offsetOf(client.ListStartOffsets(ctx, topic))(4, "earliest"),
		); err != nil {
			return err
		}
		actual, err := s.read(ctx, topic, fromStart(0))
		if err != nil {
			return err
		}
		return expectRecords(actual[0], into(0, topic, numbered(4, 10, topic)...), 4)
	})
	s.check("describe-log-dirs", func(ctx context.Context) error {
		described, err := client.DescribeAllLogDirs(ctx, nil)
		if err != nil {
			return err
		}
		sizes := make(map[int32]int64)
		for _, folders := range described {
			if err := folders.Error(); err != nil {
				return err
			}
			folders.EachPartition(func(partition kadm.DescribedLogDirPartition) {
				if partition.Topic == topic {
					sizes[partition.Partition] = partition.Size
				}
			})
		}
		return all(
			expect(len(sizes), 5, "partitions in the log folders"),
			expect(sizes[0] > 0, true, "partition 0 has a size"),
		)
	})
}

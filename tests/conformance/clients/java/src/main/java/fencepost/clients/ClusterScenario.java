package fencepost.clients;

import static fencepost.clients.Script.expect;
import static fencepost.clients.Script.refused;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.FeatureMetadata;
import org.apache.kafka.clients.admin.ListConfigResourcesOptions;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionReplica;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.errors.LogDirNotFoundException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** What only administrators ask. */
final class ClusterScenario {
    private ClusterScenario() {}

    static void run(Script script) throws Exception {
        String topic = script.name("cluster");
        TopicPartition place = new TopicPartition(topic, 0);
        Cluster.createTopic(script, topic, 1);
        Cluster.produce(
                script,
                topic,
                Cluster.numbers(0, 5).stream()
                        .map(sent -> new Cluster.Sent(0, sent.row()))
                        .toList(),
                "enable.idempotence",
                true);
        try (Admin admin = Cluster.admin(script)) {
            int broker = admin.describeCluster().nodes().get().iterator().next().id();
            script.check(
                    "describe-features",
                    () -> {
                        FeatureMetadata found = admin.describeFeatures().featureMetadata().get();
                        String name = "metadata.version";
                        expect(found.supportedFeatures().containsKey(name), true, "supported");
                        expect(found.finalizedFeatures().containsKey(name), true, "finalized");
                        expect(found.finalizedFeaturesEpoch().isPresent(), true, "an epoch");
                    });
            script.check(
                    "describe-quorum",
                    () -> {
                        QuorumInfo found = admin.describeMetadataQuorum().quorumInfo().get();
                        expect(found.leaderId(), broker, "the leader");
                        List<Integer> voters =
                                found.voters().stream().map(one -> one.replicaId()).toList();
                        expect(voters, List.of(broker), "the voters");
                    });
            script.check(
                    "elect-leaders",
                    () -> {
                        TopicPartition unknown = new TopicPartition(script.name("unknown"), 0);
                        Map<TopicPartition, Optional<Throwable>> results =
                                admin.electLeaders(ElectionType.PREFERRED, Set.of(place, unknown))
                                        .partitions()
                                        .get();
                        expect(
                                results.get(place).orElseThrow().getClass(),
                                ElectionNotNeededException.class,
                                "the error where no election is needed");
                        expect(
                                results.get(unknown).orElseThrow().getClass(),
                                UnknownTopicOrPartitionException.class,
                                "the error where there is no partition");
                    });
            script.check(
                    "describe-producers",
                    () -> {
                        List<ProducerState> producers =
                                admin.describeProducers(List.of(place))
                                        .partitionResult(place)
                                        .get()
                                        .activeProducers();
                        expect(producers.size(), 1, "the number of producers");
                        ProducerState only = producers.get(0);
                        expect(only.lastSequence(), 4, "the last sequence number");
                        expect(
                                only.currentTransactionStartOffset(),
                                OptionalLong.empty(),
                                "the offset of an open transaction");
                    });
            script.check(
                    "list-config-resources",
                    () -> {
                        Set<ConfigResource.Type> topics = Set.of(ConfigResource.Type.TOPIC);
                        boolean listed =
                                admin.listConfigResources(topics, new ListConfigResourcesOptions())
                                        .all()
                                        .get()
                                        .contains(
                                                new ConfigResource(
                                                        ConfigResource.Type.TOPIC, topic));
                        expect(listed, true, "the topic is among the resources");
                    });
            script.check(
                    "alter-replica-log-dirs",
                    () -> {
                        TopicPartitionReplica replica = new TopicPartitionReplica(topic, 0, broker);
                        refused(
                                LogDirNotFoundException.class,
                                () ->
                                        admin.alterReplicaLogDirs(Map.of(replica, "/no/such/folder"))
                                                .all()
                                                .get());
                    });
        }
    }
}

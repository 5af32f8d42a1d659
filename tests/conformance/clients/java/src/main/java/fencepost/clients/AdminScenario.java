package fencepost.clients;

import static fencepost.clients.Script.eventually;
import static fencepost.clients.Script.expect;
import static fencepost.clients.Script.refused;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.CreateTopicsResult;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

final class AdminScenario {
    private final Script script;
    private final Admin admin;
    private final String topic;

    private AdminScenario(Script script, Admin admin) {
        this.script = script;
        this.admin = admin;
        this.topic = script.name("admin");
    }

    static void run(Script script) {
        try (Admin admin = Cluster.admin(script)) {
            AdminScenario scenario = new AdminScenario(script, admin);
            scenario.creating();
            scenario.describing();
            scenario.configs();
            scenario.partitionsAndCluster();
            scenario.records();
            scenario.deleting();
        }
    }

    private static NewTopic one(String name) {
        return new NewTopic(name, 1, (short) 1);
    }

    private void creating() {
        script.check(
                "create-topic",
                () -> {
                    Map<String, String> settings =
                            Map.of("retention.ms", "-1", "max.message.bytes", "20000");
                    NewTopic newTopic = new NewTopic(topic, 3, (short) 1).configs(settings);
                    CreateTopicsResult result = admin.createTopics(List.of(newTopic));
                    expect(result.numPartitions(topic).get(), 3, "partitions in the answer");
                    expect(
                            result.replicationFactor(topic).get(),
                            1,
                            "the replication factor in the answer");
                    Config config = result.config(topic).get();
                    for (Map.Entry<String, String> setting : settings.entrySet()) {
                        String name = setting.getKey();
                        expect(
                                config.get(name).value(),
                                setting.getValue(),
                                name + " in the answer");
                    }
                    Cluster.waitUntilKnown(admin, topic);
                    expect(
                            describe(topic).topicId(),
                            result.topicId(topic).get(),
                            "the topic id, described");
                });
        script.check(
                "create-topic-again",
                () -> {
                    refused(TopicExistsException.class, () -> create(one(topic)));
                });
        script.check(
                "create-topic-bad-name",
                () -> {
                    String name = script.name("not a name!");
                    refused(InvalidTopicException.class, () -> create(one(name)));
                });
        script.check(
                "create-topic-validate-only",
                () -> {
                    String name = script.name("admin-validated");
                    CreateTopicsOptions options = new CreateTopicsOptions().validateOnly(true);
                    admin.createTopics(List.of(one(name)), options).all().get();
                    expect(topics().contains(name), false, "the validated topic is there");
                });
        script.check(
                "create-topic-assignment",
                () -> {
                    String name = script.name("admin-assigned");
                    List<Integer> replicas = List.of(theBroker().id());
                    create(new NewTopic(name, Map.of(0, replicas, 1, replicas)));
                    Cluster.waitUntilKnown(admin, name);
                    expect(describe(name).partitions().size(), 2, "partitions");
                });
    }

    private void create(NewTopic newTopic) throws Exception {
        admin.createTopics(List.of(newTopic)).all().get();
    }

    private Set<String> topics() throws Exception {
        return admin.listTopics().names().get();
    }

    private TopicDescription describe(String name) throws Exception {
        return admin.describeTopics(List.of(name)).allTopicNames().get().get(name);
    }

    private Node theBroker() throws Exception {
        return admin.describeCluster().nodes().get().iterator().next();
    }

    private void describing() {
        script.check(
                "list-topics",
                () -> {
                    Set<String> wanted = Set.of(topic, script.name("admin-assigned"));
                    eventually(() -> topics().containsAll(wanted), wanted + " among the topics");
                });
        script.check(
                "describe-topic",
                () -> {
                    List<Node> broker = List.of(theBroker());
                    List<TopicPartitionInfo> partitions = describe(topic).partitions();
                    expect(partitions.size(), 3, "partitions");
                    for (int i = 0; i < 3; i++) {
                        expect(partitions.get(i).partition(), i, "the partition");
                        expect(List.of(partitions.get(i).leader()), broker, "the leader");
                        expect(partitions.get(i).replicas(), broker, "the replicas");
                        expect(partitions.get(i).isr(), broker, "the in-sync replicas");
                    }
                });
        script.check(
                "describe-unknown-topic",
                () -> {
                    String name = script.name("admin-unknown");
                    refused(UnknownTopicOrPartitionException.class, () -> describe(name));
                    expect(topics().contains(name), false, "the unknown topic is there");
                });
    }

    private Config config() throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        return admin.describeConfigs(List.of(resource)).all().get().get(resource);
    }

    private void alter(ConfigEntry entry, OpType operation) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        AlterConfigOp change = new AlterConfigOp(entry, operation);
        admin.incrementalAlterConfigs(Map.of(resource, List.of(change))).all().get();
    }

    private void configs() {
        script.check(
                "describe-configs",
                () -> {
                    Config config = config();
                    expect(config.get("retention.ms").value(), "-1", "retention.ms");
                    expect(config.get("max.message.bytes").value(), "20000", "max.message.bytes");
                    ConfigEntry.ConfigSource source = config.get("max.message.bytes").source();
                    expect(source, ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG, "its source");
                    expect(
                            config.get("max.message.bytes").type(),
                            ConfigEntry.ConfigType.INT,
                            "its type");
                    expect(config.get("cleanup.policy").value(), "delete", "cleanup.policy");
                    expect(
                            config.get("cleanup.policy").isDefault(),
                            true,
                            "cleanup.policy is the default");
                });
        script.check(
                "alter-configs",
                () -> {
                    alter(new ConfigEntry("max.message.bytes", null), OpType.DELETE);
                    alter(new ConfigEntry("segment.ms", "3600000"), OpType.SET);
                    alter(new ConfigEntry("cleanup.policy", "compact"), OpType.APPEND);
                    List<String> wanted = List.of("-1", "1048588", "3600000", "delete,compact");
                    eventually(
                            () -> {
                                Config config = config();
                                List<String> names =
                                        List.of(
                                                "retention.ms",
                                                "max.message.bytes",
                                                "segment.ms",
                                                "cleanup.policy");
                                return names.stream()
                                        .map(name -> config.get(name).value())
                                        .toList()
                                        .equals(wanted);
                            },
                            "the settings " + wanted);
                    refused(
                            InvalidConfigurationException.class,
                            () -> alter(new ConfigEntry("retention.ms", "soon"), OpType.SET));
                    alter(new ConfigEntry("cleanup.policy", "compact"), OpType.SUBTRACT);
                    eventually(
                            () -> config().get("cleanup.policy").value().equals("delete"),
                            "compact is taken away again");
                });
    }

    private void partitionsAndCluster() {
        script.check(
                "create-partitions",
                () -> {
                    admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(5))).all().get();
                    eventually(() -> describe(topic).partitions().size() == 5, "5 partitions");
                    refused(
                            InvalidPartitionsException.class,
                            () -> {
                                admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(2)))
                                        .all()
                                        .get();
                            });
                });
        script.check(
                "describe-cluster",
                () -> {
                    DescribeClusterResult cluster = admin.describeCluster();
                    List<String> addresses = new ArrayList<>();
                    cluster.nodes()
                            .get()
                            .forEach(node -> addresses.add(node.host() + ":" + node.port()));
                    expect(addresses, List.of(script.bootstrap), "the brokers");
                    expect(cluster.controller().get(), theBroker(), "the controller");
                    expect(cluster.clusterId().get().isEmpty(), false, "the cluster id is empty");
                });
    }

    private long offset(OffsetSpec spec) throws Exception {
        TopicPartition place = new TopicPartition(topic, 0);
        return admin.listOffsets(Map.of(place, spec)).partitionResult(place).get().offset();
    }

    private void records() {
        TopicPartition place = new TopicPartition(topic, 0);
        script.check(
                "list-offsets",
                () -> {
                    List<Row> rows = new ArrayList<>();
                    for (int i = 0; i < 10; i++) {
                        rows.add(Row.number(i));
                    }
                    Cluster.produce(script, topic, Cluster.to(0, rows.toArray(Row[]::new)));
                    expect(offset(OffsetSpec.earliest()), 0L, "earliest");
                    expect(offset(OffsetSpec.latest()), 10L, "latest");
                    expect(
                            offset(OffsetSpec.forTimestamp(Row.FIRST_TIMESTAMP + 2500)),
                            3L,
                            "the offset for a timestamp");
                    expect(
                            offset(OffsetSpec.maxTimestamp()),
                            9L,
                            "the offset of the highest timestamp");
                });
        script.check(
                "delete-records",
                () -> {
                    Map<TopicPartition, RecordsToDelete> asked =
                            Map.of(place, RecordsToDelete.beforeOffset(4));
                    long lowWatermark =
                            admin.deleteRecords(asked)
                                    .lowWatermarks()
                                    .get(place)
                                    .get()
                                    .lowWatermark();
                    expect(lowWatermark, 4L, "the low watermark");
                    expect(offset(OffsetSpec.earliest()), 4L, "the earliest offset");
                    Cluster.Read first =
                            Cluster.read(script, topic, Cluster.fromBeginning(1)).get(0).get(0);
                    expect(first, new Cluster.Read(4, Row.number(4)), "the first record");
                });
        script.check(
                "describe-log-dirs",
                () -> {
                    int broker = theBroker().id();
                    Map<Integer, Long> sizes = new TreeMap<>();
                    for (LogDirDescription folder :
                            admin.describeLogDirs(List.of(broker))
                                    .allDescriptions()
                                    .get()
                                    .get(broker)
                                    .values()) {
                        folder.replicaInfos()
                                .forEach(
                                        (replica, info) -> {
                                            if (replica.topic().equals(topic)) {
                                                sizes.put(replica.partition(), info.size());
                                            }
                                        });
                    }
                    expect(
                            sizes.keySet(),
                            Set.of(0, 1, 2, 3, 4),
                            "the partitions in the log folders");
                    expect(sizes.get(0) > 0, true, "partition 0 has a size");
                });
    }

    private void deleting() {
        script.check(
                "delete-topic",
                () -> {
                    admin.deleteTopics(List.of(topic)).all().get();
                    eventually(() -> !topics().contains(topic), "the topic is gone");
                    refused(
                            UnknownTopicOrPartitionException.class,
                            () -> admin.deleteTopics(List.of(topic)).all().get());
                });
    }
}

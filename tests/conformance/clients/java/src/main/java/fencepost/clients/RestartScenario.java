package fencepost.clients;

import static fencepost.clients.Cluster.expectRows;
import static fencepost.clients.Cluster.fromBeginning;
import static fencepost.clients.Cluster.numbers;
import static fencepost.clients.Cluster.read;
import static fencepost.clients.Script.expect;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.config.ConfigResource;

import java.util.List;

/** What was written before the broker was stopped and started again, and going on behind it. */
final class RestartScenario {
    private RestartScenario() {}

    static void before(Script script) {
        script.check(
                "write",
                () -> {
                    Cluster.createTopic(script, script.name("restart"), Row.PARTITIONS);
                    write(script, 0, Row.COUNT);
                });
    }

    /** So many records are there; as many as the first time are written behind them. */
    static void after(Script script, int there) {
        int end = there + Row.COUNT;
        String topic = script.name("restart");
        script.check(
                "topic-kept",
                () -> {
                    try (Admin admin = Cluster.admin(script)) {
                        TopicDescription description =
                                admin.describeTopics(List.of(topic))
                                        .allTopicNames()
                                        .get()
                                        .get(topic);
                        expect(description.partitions().size(), Row.PARTITIONS, "partitions");
                        ConfigResource resource =
                                new ConfigResource(ConfigResource.Type.TOPIC, topic);
                        Config config =
                                admin.describeConfigs(List.of(resource)).all().get().get(resource);
                        expect(config.get("retention.ms").value(), "-1", "retention.ms");
                    }
                });
        script.check(
                "read-back",
                () -> {
                    expectRows(
                            read(script, topic, fromBeginning(Row.PARTITIONS)),
                            Row.byPartition(0, there));
                });
        script.check(
                "write-more",
                () -> {
                    List<RecordMetadata> answers = write(script, there, end);
                    for (int i = 0; i < answers.size(); i++) {
                        long offset = (there + i) / Row.PARTITIONS;
                        String what = "the offset of record " + (there + i);
                        expect(answers.get(i).offset(), offset, what);
                    }
                });
        script.check(
                "read-all",
                () -> {
                    expectRows(
                            read(script, topic, fromBeginning(Row.PARTITIONS)),
                            Row.byPartition(0, end));
                });
    }

    private static List<RecordMetadata> write(Script script, int first, int end) throws Exception {
        return Cluster.produce(
                script, script.name("restart"), numbers(first, end), "enable.idempotence", true);
    }
}

package fencepost.clients;

import static fencepost.clients.Cluster.consumer;
import static fencepost.clients.Cluster.createTopic;
import static fencepost.clients.Cluster.expectRows;
import static fencepost.clients.Cluster.fromBeginning;
import static fencepost.clients.Cluster.numbers;
import static fencepost.clients.Cluster.produce;
import static fencepost.clients.Cluster.read;
import static fencepost.clients.Cluster.to;
import static fencepost.clients.Script.expect;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

final class ConsumeScenario {
    private static final int MANY = 10_000;

    private ConsumeScenario() {}

    static void run(Script script) throws Exception {
        String topic = script.name("consume");
        createTopic(script, topic, Row.PARTITIONS);
        produce(script, topic, numbers(0, Row.COUNT));
        Map<Integer, List<Row>> wanted = Row.byPartition(0, Row.COUNT);

        script.check("beginning", () -> expectRows(read(script, topic, fromBeginning(3)), wanted));
        script.check(
                "offset",
                () -> {
                    List<Cluster.Read> actual = read(script, topic, Map.of(1, 42L)).get(1);
                    expect(
                            actual,
                            numbered(wanted.get(1)).subList(42, 100),
                            "the records from offset 42");
                });
        script.check(
                "timestamp",
                () -> {
                    // One millisecond behind record 149, which is at offset 49 of partition 2.
                    OffsetAndTimestamp found =
                            forTime(script, topic, 2, Row.number(149).timestamp() + 1);
                    expect(found.offset(), 50L, "the offset");
                    expect(found.timestamp(), Row.number(152).timestamp(), "its timestamp");
                    List<Cluster.Read> actual =
                            read(script, topic, Map.of(2, found.offset())).get(2);
                    expect(
                            actual,
                            numbered(wanted.get(2)).subList(50, 100),
                            "the records from there");
                });
        script.check(
                "timestamp-past-end",
                () -> {
                    OffsetAndTimestamp found =
                            forTime(script, topic, 2, Row.number(Row.COUNT).timestamp());
                    expect(found, null, "what is found past the end");
                });
        script.check(
                "out-of-range",
                () -> {
                    Map<Integer, Long> beyond = Map.of(0, 1_000_000L);
                    expectRows(
                            read(script, topic, beyond, "auto.offset.reset", "earliest"),
                            Map.of(0, wanted.get(0)));
                });
        script.check("end", () -> fromEnd(script, topic));
        script.check("many", () -> many(script));
    }

    private static List<Cluster.Read> numbered(List<Row> rows) {
        List<Cluster.Read> reads = new ArrayList<>();
        rows.forEach(row -> reads.add(new Cluster.Read(reads.size(), row)));
        return reads;
    }

    private static OffsetAndTimestamp forTime(
            Script script, String topic, int partition, long timestamp) {
        TopicPartition place = new TopicPartition(topic, partition);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(script)) {
            return consumer.offsetsForTimes(Map.of(place, timestamp)).get(place);
        }
    }

    private static void fromEnd(Script script, String topic) throws Exception {
        TopicPartition place = new TopicPartition(topic, 0);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(script)) {
            consumer.assign(List.of(place));
            consumer.seekToEnd(List.of(place));
            expect(consumer.position(place), 100L, "the end");
            produce(script, topic, to(0, Row.number(0)));
            List<Cluster.Read> actual = new ArrayList<>();
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Script.GIVE_UP)) {
                actual.add(new Cluster.Read(record.offset(), Row.of(record)));
            }
            expect(
                    actual,
                    List.of(new Cluster.Read(100, Row.number(0))),
                    "what is read from the end");
        }
    }

    private static void many(Script script) throws Exception {
        String topic = script.name("many");
        createTopic(script, topic, Row.PARTITIONS);
        List<Cluster.Sent> sent = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            sent.add(
                    new Cluster.Sent(i % Row.PARTITIONS, Row.of(null, String.format("%0500d", i))));
        }
        produce(script, topic, sent);
        read(script, topic, fromBeginning(Row.PARTITIONS))
                .forEach(
                        (partition, reads) -> {
                            List<Long> actual = new ArrayList<>();
                            List<Long> wanted = new ArrayList<>();
                            for (Cluster.Read read : reads) {
                                actual.add(Row.PARTITIONS * read.offset() + partition);
                                wanted.add(Long.parseLong(read.row().text()));
                            }
                            expect(
                                    actual,
                                    wanted,
                                    "the numbers at the offsets of partition " + partition);
                            int count = (MANY - partition + Row.PARTITIONS - 1) / Row.PARTITIONS;
                            expect(actual.size(), count, "records in partition " + partition);
                            expect(
                                    actual.get(count - 1),
                                    (long) Row.PARTITIONS * (count - 1) + partition,
                                    "the last number");
                        });
    }
}

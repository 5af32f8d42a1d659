package fencepost.clients;

import static fencepost.clients.Cluster.send;
import static fencepost.clients.Cluster.to;
import static fencepost.clients.Script.eventually;
import static fencepost.clients.Script.expect;
import static fencepost.clients.Script.refused;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.ProducerFencedException;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

final class TransactionsScenario {
    private final Script script;
    private final String topic;
    private final List<KafkaProducer<byte[], byte[]>> producers = new ArrayList<>();

    private TransactionsScenario(Script script) {
        this.script = script;
        this.topic = script.name("transactions");
    }

    static void run(Script script) throws Exception {
        TransactionsScenario scenario = new TransactionsScenario(script);
        Cluster.createTopic(script, scenario.topic, 8);
        scenario.ends();
        scenario.fencing();
        scenario.offsets();
        scenario.producers.forEach(producer -> producer.close(java.time.Duration.ZERO));
    }

    private KafkaProducer<byte[], byte[]> producer(String suffix) {
        return producer(suffix, 60_000);
    }

    private KafkaProducer<byte[], byte[]> producer(String suffix, int timeoutMs) {
        KafkaProducer<byte[], byte[]> producer =
                Cluster.producer(
                        script,
                        "transactional.id",
                        script.name(suffix),
                        "transaction.timeout.ms",
                        timeoutMs);
        producers.add(producer);
        producer.initTransactions();
        return producer;
    }

    private List<String> values(int partition, String isolation) {
        Map<Integer, Long> start = Map.of(partition, 0L);
        return Cluster.read(script, topic, start, "isolation.level", isolation)
                .get(partition)
                .stream()
                .map(read -> read.row().text())
                .toList();
    }

    /** What ends a transaction is answered before its markers are written. */
    private void seen(int partition, List<String> wanted) throws Exception {
        eventually(
                () -> values(partition, "read_committed").equals(wanted),
                "a read_committed reader sees exactly " + wanted);
    }

    private void ends() {
        script.check(
                "commit",
                () -> {
                    KafkaProducer<byte[], byte[]> producer = producer("commit");
                    producer.beginTransaction();
                    producer.send(Row.of(null, "a").to(topic, 0));
                    producer.send(Row.of(null, "b").to(topic, 1));
                    producer.commitTransaction();
                    seen(0, List.of("a"));
                    seen(1, List.of("b"));
                });
        script.check(
                "abort",
                () -> {
                    KafkaProducer<byte[], byte[]> producer = producer("abort");
                    producer.beginTransaction();
                    send(producer, topic, to(2, Row.of(null, "aborted")));
                    producer.abortTransaction();
                    Cluster.produce(script, topic, to(2, Row.of(null, "after")));
                    expect(
                            values(2, "read_uncommitted"),
                            List.of("aborted", "after"),
                            "read_uncommitted");
                    seen(2, List.of("after"));
                });
        script.check(
                "open",
                () -> {
                    KafkaProducer<byte[], byte[]> producer = producer("open");
                    producer.beginTransaction();
                    send(producer, topic, to(3, Row.of(null, "open")));
                    Cluster.produce(script, topic, to(3, Row.of(null, "behind")));
                    expect(
                            values(3, "read_committed"),
                            List.of(),
                            "read_committed while the transaction is open");
                    expect(
                            values(3, "read_uncommitted"),
                            List.of("open", "behind"),
                            "read_uncommitted");
                    producer.commitTransaction();
                    seen(3, List.of("open", "behind"));
                });
        script.check(
                "alternate",
                () -> {
                    KafkaProducer<byte[], byte[]> producer = producer("alternate");
                    for (int i = 0; i < 20; i++) {
                        producer.beginTransaction();
                        send(producer, topic, to(4, Row.of(null, "" + i)));
                        if (i % 2 == 0) {
                            producer.commitTransaction();
                        } else {
                            producer.abortTransaction();
                        }
                    }
                    seen(4, IntStream.range(0, 10).mapToObj(i -> "" + 2 * i).toList());
                });
    }

    private void fencing() {
        script.check(
                "fencing",
                () -> {
                    KafkaProducer<byte[], byte[]> first = producer("fenced");
                    first.beginTransaction();
                    send(first, topic, to(5, Row.of(null, "first")));
                    KafkaProducer<byte[], byte[]> second = producer("fenced");
                    second.beginTransaction();
                    send(second, topic, to(5, Row.of(null, "second")));
                    second.commitTransaction();
                    refused(ProducerFencedException.class, first::commitTransaction);
                    seen(5, List.of("second"));
                });
        script.check(
                "timeout",
                () -> {
                    KafkaProducer<byte[], byte[]> late = producer("late", 1_000);
                    late.beginTransaction();
                    send(late, topic, to(7, Row.of(null, "late")));
                    Cluster.produce(script, topic, to(7, Row.of(null, "behind")));
                    seen(7, List.of("behind"));
                    // Ended by the broker already, with the other outcome, as a repeated one would be.
                    refused(InvalidTxnStateException.class, late::commitTransaction);
                });
    }

    private void offsets() {
        String group = script.name("transactional-group");
        TopicPartition place = new TopicPartition(topic, 6);
        try (Admin admin = Cluster.admin(script);
                KafkaConsumer<byte[], byte[]> consumer =
                        Cluster.consumer(script, "group.id", group)) {
            script.check(
                    "send-offsets",
                    () -> {
                        sendOffset(7, place, consumer.groupMetadata()).commitTransaction();
                        eventually(
                                () -> committed(admin, group).equals(Map.of(place, 7L)),
                                "offset 7 is committed");
                    });
            script.check(
                    "send-offsets-abort",
                    () -> {
                        sendOffset(9, place, consumer.groupMetadata()).abortTransaction();
                        expect(committed(admin, group), Map.of(place, 7L), "the committed offset");
                    });
        }
    }

    private KafkaProducer<byte[], byte[]> sendOffset(
            long offset, TopicPartition place, ConsumerGroupMetadata group) throws Exception {
        KafkaProducer<byte[], byte[]> producer = producer("send-offsets");
        producer.beginTransaction();
        send(producer, topic, to(6, Row.number(0)));
        producer.sendOffsetsToTransaction(Map.of(place, new OffsetAndMetadata(offset)), group);
        return producer;
    }

    private static Map<TopicPartition, Long> committed(Admin admin, String group) throws Exception {
        Map<TopicPartition, Long> offsets = new java.util.HashMap<>();
        admin.listConsumerGroupOffsets(group)
                .partitionsToOffsetAndMetadata()
                .get()
                .forEach((place, offset) -> offsets.put(place, offset.offset()));
        return offsets;
    }
}

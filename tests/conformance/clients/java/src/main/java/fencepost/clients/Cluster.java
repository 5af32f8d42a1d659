package fencepost.clients;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Writing and reading, as the scenarios need it. */
final class Cluster {
    private Cluster() {}

    /** A place of a partition in a topic and the record that goes there. */
    record Sent(int partition, Row row) {}

    /** A record and its offset. */
    record Read(long offset, Row row) {}

    static Admin admin(Script script) {
        return Admin.create(script.config());
    }

    static KafkaProducer<byte[], byte[]> producer(Script script, Object... namesAndValues) {
        Map<String, Object> config = script.config(namesAndValues);
        return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    static KafkaConsumer<byte[], byte[]> consumer(Script script, Object... namesAndValues) {
        return consumer(script.config(namesAndValues));
    }

    static KafkaConsumer<byte[], byte[]> consumer(Map<String, Object> config) {
        return new KafkaConsumer<>(
                config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Creates it and waits until it can be used; it keeps its records however old they are. */
    static void createTopic(Script script, String topic, int partitions, String... namesAndValues)
            throws Exception {
        Map<String, String> config = new HashMap<>(Map.of("retention.ms", "-1"));
        for (int i = 0; i < namesAndValues.length; i += 2) {
            config.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        try (Admin admin = admin(script)) {
            NewTopic newTopic = new NewTopic(topic, partitions, (short) 1).configs(config);
            admin.createTopics(List.of(newTopic)).all().get();
            waitUntilKnown(admin, topic);
            // A broker may tell of a partition before it takes records for it: see FINDINGS.md.
            Map<TopicPartition, OffsetSpec> all = new HashMap<>();
            for (int partition = 0; partition < partitions; partition++) {
                all.put(new TopicPartition(topic, partition), OffsetSpec.latest());
            }
            admin.listOffsets(all).all().get();
        }
    }

    static void waitUntilKnown(Admin admin, String topic) throws Exception {
        Script.eventually(
                () -> {
                    try {
                        admin.describeTopics(List.of(topic)).allTopicNames().get();
                        return true;
                    } catch (ExecutionException error) {
                        if (error.getCause() instanceof UnknownTopicOrPartitionException) {
                            return false;
                        }
                        throw error;
                    }
                },
                topic + " is known");
    }

    /** Writes the records; what the broker said of each, in the same order. */
    static List<RecordMetadata> produce(
            Script script, String topic, List<Sent> rows, Object... namesAndValues)
            throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(script, namesAndValues)) {
            return send(producer, topic, rows);
        }
    }

    static List<RecordMetadata> send(
            KafkaProducer<byte[], byte[]> producer, String topic, List<Sent> rows)
            throws Exception {
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        for (Sent sent : rows) {
            futures.add(producer.send(sent.row.to(topic, sent.partition)));
        }
        List<RecordMetadata> answers = new ArrayList<>();
        for (Future<RecordMetadata> future : futures) {
            answers.add(future.get(Script.GIVE_UP.toSeconds(), TimeUnit.SECONDS));
        }
        return answers;
    }

    static List<Sent> to(int partition, Row... rows) {
        return Arrays.stream(rows).map(row -> new Sent(partition, row)).toList();
    }

    /** The records of these numbers, each to its partition. */
    static List<Sent> numbers(int first, int end) {
        List<Sent> rows = new ArrayList<>();
        for (int i = first; i < end; i++) {
            rows.add(new Sent(i % Row.PARTITIONS, Row.number(i)));
        }
        return rows;
    }

    /**
     * The records of these partitions to their ends, from the given offsets; null is the beginning.
     */
    static Map<Integer, List<Read>> read(
            Script script, String topic, Map<Integer, Long> starts, Object... namesAndValues) {
        Map<Integer, List<Read>> found = new TreeMap<>();
        List<TopicPartition> places = new ArrayList<>();
        starts.keySet().forEach(partition -> places.add(new TopicPartition(topic, partition)));
        long deadline = System.nanoTime() + Script.GIVE_UP.toNanos();
        // A consumer that closes waits for the fetch that it has under way: a short one.
        Map<String, Object> config = script.config(namesAndValues);
        config.put("fetch.max.wait.ms", 10);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(config)) {
            consumer.assign(places);
            for (TopicPartition place : places) {
                found.put(place.partition(), new ArrayList<>());
                Long start = starts.get(place.partition());
                if (start == null) {
                    consumer.seekToBeginning(List.of(place));
                } else {
                    consumer.seek(place, start);
                }
            }
            Map<TopicPartition, Long> ends = consumer.endOffsets(places);
            // A position moves on over the markers of transactions too, so that it reaches the end.
            while (!places.stream()
                    .allMatch(place -> consumer.position(place) == ends.get(place))) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(50));
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    found.get(record.partition()).add(new Read(record.offset(), Row.of(record)));
                }
                if (System.nanoTime() > deadline) {
                    throw new Script.Mismatch(
                            "the ends " + ends + " are not reached; records so far: " + found);
                }
            }
        }
        return found;
    }

    static Map<Integer, Long> fromBeginning(int partitions) {
        Map<Integer, Long> starts = new HashMap<>();
        for (int partition = 0; partition < partitions; partition++) {
            starts.put(partition, null);
        }
        return starts;
    }

    /** Exactly the wanted records by partition, at the offsets 0, 1, 2, ... */
    static void expectRows(Map<Integer, List<Read>> actual, Map<Integer, List<Row>> wanted) {
        wanted.forEach(
                (partition, rows) -> {
                    List<Read> reads = actual.get(partition);
                    for (int i = 0; i < Math.min(rows.size(), reads.size()); i++) {
                        Script.expect(
                                reads.get(i), new Read(i, rows.get(i)), "partition " + partition);
                    }
                    Script.expect(reads.size(), rows.size(), "records in partition " + partition);
                });
    }
}

package fencepost.clients;

import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApplicationRecoverableException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;

/**
 * A worker that reads in a group, and writes what it read in transactions with its offsets. How it
 * is called, what it is told and what it says stands in transforming.py.
 */
public final class Transform {
    private static final int SESSION_MS = 4_000;
    private static final int HEARTBEAT_MS = 500;
    private static final int RECORDS_PER_TRANSACTION = 5;
    private static final Duration POLL = Duration.ofMillis(100);

    private final Map<String, String> options;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Semaphore released = new Semaphore(0);
    private volatile boolean leaving = false;
    private volatile String holdAt = "";
    private String assigned = "";

    private Transform(String bootstrap, Map<String, String> options) {
        this.options = options;
        Map<String, Object> reading = new HashMap<>(rebalance(options.get("rebalance")));
        reading.put("bootstrap.servers", bootstrap);
        reading.put("group.id", options.get("group"));
        reading.put("isolation.level", "read_committed");
        reading.put("auto.offset.reset", "earliest");
        reading.put("enable.auto.commit", false);
        reading.put("max.poll.records", RECORDS_PER_TRANSACTION);
        reading.put("fetch.max.wait.ms", 50);
        consumer =
                new KafkaConsumer<>(
                        reading, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Map<String, Object> writing = new HashMap<>();
        writing.put("bootstrap.servers", bootstrap);
        writing.put("transactional.id", options.get("transactional-id"));
        writing.put(
                "transaction.timeout.ms", Integer.valueOf(options.get("transaction-timeout-ms")));
        writing.put("linger.ms", 0);
        producer =
                new KafkaProducer<>(writing, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static Map<String, Object> rebalance(String kind) {
        if (kind.equals("consumer-protocol")) {
            return Map.of("group.protocol", "consumer");
        }
        Class<?> assignor =
                kind.equals("eager") ? RangeAssignor.class : CooperativeStickyAssignor.class;
        return Map.of(
                "group.protocol", "classic",
                "partition.assignment.strategy", assignor.getName(),
                "session.timeout.ms", SESSION_MS,
                "heartbeat.interval.ms", HEARTBEAT_MS);
    }

    /** Called as Transform BOOTSTRAP --NAME=VALUE... */
    public static void main(String[] arguments) {
        Map<String, String> options = new HashMap<>();
        for (String argument : List.of(arguments).subList(1, arguments.length)) {
            String[] nameAndValue = argument.substring("--".length()).split("=", 2);
            options.put(nameAndValue[0], nameAndValue[1]);
        }
        Transform worker = new Transform(arguments[0], options);
        Thread listener = new Thread(worker::listen);
        listener.setDaemon(true);
        listener.start();
        worker.run();
    }

    private void run() {
        producer.initTransactions();
        consumer.subscribe(List.of(options.get("source")));
        while (!leaving) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
            // Of the generation that these records were read in: see confluent_transform.py.
            ConsumerGroupMetadata group = consumer.groupMetadata();
            tellAssigned();
            if (!records.isEmpty()) {
                transform(records, group);
            }
        }
        producer.close();
        consumer.close();
    }

    private void transform(ConsumerRecords<byte[], byte[]> records, ConsumerGroupMetadata group) {
        producer.beginTransaction();
        try {
            Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();
            for (ConsumerRecord<byte[], byte[]> record : records) {
                producer.send(
                        new ProducerRecord<>(
                                options.get("sink"), record.partition(), null, record.value()));
                ends.put(
                        new TopicPartition(record.topic(), record.partition()),
                        new OffsetAndMetadata(record.offset() + 1));
            }
            producer.flush();
            hold("written");
            producer.sendOffsetsToTransaction(ends, group);
            hold("offsets");
            producer.commitTransaction();
        } catch (KafkaException error) {
            say("aborted " + error.toString().replace('\n', ' '));
            if (error instanceof ProducerFencedException
                    || error instanceof ApplicationRecoverableException) {
                throw error;
            }
            producer.abortTransaction();
            rewind();
            return;
        }
        say("committed " + records.count());
    }

    /** Goes back to what is committed in all of the member's partitions. */
    private void rewind() {
        Set<TopicPartition> places = consumer.assignment();
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(places);
        for (TopicPartition place : places) {
            OffsetAndMetadata offset = committed.get(place);
            consumer.seek(place, offset == null ? 0 : offset.offset());
        }
    }

    private void tellAssigned() {
        String now =
                consumer.assignment().stream()
                        .map(place -> "" + place.partition())
                        .sorted()
                        .collect(Collectors.joining(","));
        if (!now.equals(assigned)) {
            assigned = now;
            say("assigned " + now);
        }
    }

    private void hold(String stage) {
        if (holdAt.equals(stage)) {
            holdAt = "";
            released.drainPermits();
            say("holding " + stage);
            released.acquireUninterruptibly();
        }
    }

    private void listen() {
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                if (line.startsWith("hold ")) {
                    holdAt = line.substring("hold ".length());
                    say("will " + line);
                } else if (line.equals("go")) {
                    released.release();
                } else if (line.equals("leave")) {
                    break;
                }
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } finally {
            leaving = true;
            released.release();
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}

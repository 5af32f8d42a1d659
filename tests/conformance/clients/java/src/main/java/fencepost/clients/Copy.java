package fencepost.clients;

import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApplicationRecoverableException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A copier: see tests/kill/matrix/words.py. */
public final class Copy implements ConsumerRebalanceListener {
    private static final Duration POLL = Duration.ofMillis(200);

    /** So that a transaction has many requests, several of them under way at the same time. */
    private static final int SMALL_BATCH_BYTES = 512;

    private final Map<String, String> options;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final KafkaProducer<byte[], byte[]> producer;
    private final CountDownLatch hurried = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean leaves = false;
    private volatile boolean isTerminated = false;

    private Copy(String bootstrap, Map<String, String> options) {
        this.options = options;
        int sessionMs = Integer.parseInt(options.get("session-ms"));
        Map<String, Object> reading = new HashMap<>();
        reading.put("bootstrap.servers", bootstrap);
        reading.put("group.id", options.get("group"));
        reading.put("group.protocol", "classic");
        reading.put("isolation.level", "read_committed");
        reading.put("auto.offset.reset", "earliest");
        reading.put("enable.auto.commit", false);
        reading.put("max.poll.records", Integer.valueOf(options.get("records")));
        reading.put("session.timeout.ms", sessionMs);
        reading.put("heartbeat.interval.ms", sessionMs / 6);
        reading.put("max.poll.interval.ms", 180_000);
        consumer =
                new KafkaConsumer<>(
                        reading, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Map<String, Object> writing = new HashMap<>();
        writing.put("bootstrap.servers", bootstrap);
        writing.put("transactional.id", options.get("transactional-id"));
        writing.put(
                "transaction.timeout.ms", Integer.valueOf(options.get("transaction-timeout-ms")));
        writing.put("batch.size", SMALL_BATCH_BYTES);
        producer =
                new KafkaProducer<>(writing, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Called as Copy BOOTSTRAP --NAME=VALUE... */
    public static void main(String[] arguments) {
        Copy copier = new Copy(arguments[0], Words.options(arguments));
        Runtime.getRuntime().addShutdownHook(new Thread(copier::terminate));
        Words.hear(copier::told);
        try {
            copier.run();
        } catch (RuntimeException error) {
            error.printStackTrace();
            copier.ended.countDown();
            System.exit(1);
        }
        copier.ended.countDown();
    }

    private void terminate() {
        isTerminated = true;
        hurried.countDown();
        try {
            ended.await();
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    private void told(String word) {
        leaves = leaves || word.equals("leave");
        hurried.countDown();
    }

    private void run() {
        TopicPartition place =
                new TopicPartition(
                        options.get("source"), Integer.parseInt(options.get("partition")));
        producer.initTransactions();
        if (options.get("member").equals("true")) {
            consumer.subscribe(List.of(options.get("source")), this);
        } else {
            consumer.assign(Set.of(place));
            rewind();
        }
        while (!leaves && !isTerminated) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
            // Of who is no member: the group's name, and a generation that nobody checks.
            ConsumerGroupMetadata group = consumer.groupMetadata();
            if (!records.isEmpty()) {
                copy(records, group);
            }
        }
        producer.close();
        consumer.close();
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {}

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        consumer.committed(Set.copyOf(partitions))
                .forEach(
                        (place, offset) -> {
                            if (offset != null) {
                                Words.say("at", place.partition(), offset.offset());
                            }
                        });
    }

    private void copy(ConsumerRecords<byte[], byte[]> records, ConsumerGroupMetadata group) {
        Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();
        Words.say("begun");
        producer.beginTransaction();
        try {
            int left = records.count();
            for (ConsumerRecord<byte[], byte[]> record : records) {
                if (left-- == (records.count() + 1) / 2) {
                    pace();
                }
                producer.send(
                        new ProducerRecord<>(
                                options.get("sink"), record.partition(), null, record.value()));
                ends.put(
                        new TopicPartition(record.topic(), record.partition()),
                        new OffsetAndMetadata(record.offset() + 1));
            }
            if (isTerminated) {
                producer.abortTransaction();
                return;
            }
            producer.sendOffsetsToTransaction(ends, group);
            commit();
        } catch (ProducerFencedException error) {
            throw error;
        } catch (KafkaException error) {
            Words.say("aborted", error.toString().replace('\n', ' '));
            if (error instanceof ApplicationRecoverableException) {
                throw error;
            }
            producer.abortTransaction();
            rewind();
            return;
        }
        Words.say("committed");
        ends.forEach((place, offset) -> Words.say("at", place.partition(), offset.offset()));
    }

    /** Asks until it is known: an answer may have died with the coordinator. */
    private void commit() {
        while (true) {
            try {
                producer.commitTransaction();
                return;
            } catch (TimeoutException error) {
                Words.say("waits", "for the outcome of its commit");
            }
        }
    }

    private void pace() {
        try {
            hurried.await(Long.parseLong(options.get("pace-ms")), TimeUnit.MILLISECONDS);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    /** Goes back to what is committed in all that is read. */
    private void rewind() {
        Set<TopicPartition> places = consumer.assignment();
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(places);
        for (TopicPartition place : places) {
            OffsetAndMetadata found = committed.get(place);
            long offset = found == null ? 0 : found.offset();
            consumer.seek(place, offset);
            Words.say("at", place.partition(), offset);
        }
    }
}

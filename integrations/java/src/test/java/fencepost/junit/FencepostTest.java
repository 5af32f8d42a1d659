package fencepost.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class FencepostTest {
    @RegisterExtension
    static final Fencepost BROKER = new Fencepost();

    @Test
    void aCommitWhoseAnswerIsLostCommitsExactlyOnce() {
        BROKER.createTopic("orders", 1);
        BROKER.addFault(new Rule("lost", "drop-answer").match(Map.of("api", "EndTxn")).times(1));
        try (var producer = begun("payments", "orders", "first")) {
            producer.commitTransaction();
            BROKER.waitUntilFired("lost", 1);
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("orders", "second"));
            producer.commitTransaction();
        }
        try (var consumer = reader("orders")) {
            assertEquals(List.of("first", "second"), read(consumer, 2));
        }
    }

    @Test
    void readCommittedWaitsForHeldMarkers() {
        BROKER.createTopic("held", 1);
        int hold = BROKER.holdMarkers(Map.of("topic", "held"));
        try (var producer = begun("holding", "held", "value");
                var consumer = reader("held")) {
            producer.commitTransaction();
            var held = new TopicPartition("held", 0);
            assertEquals(0, consumer.endOffsets(List.of(held)).get(held)); // the last stable offset
            BROKER.releaseMarkers(hold);
            assertEquals(List.of("value"), read(consumer, 1));
        }
    }

    @Test
    void aTransactionTimesOutWhenTheClockIsAdvanced() {
        BROKER.createTopic("expired", 1);
        try (var producer = begun("slow", "expired", "value")) {
            BROKER.advanceClock(Duration.ofMinutes(5));
            assertThrows(KafkaException.class, producer::commitTransaction);
        }
    }

    @Test
    void aRuleThatNeverFiredIsNamed() {
        BROKER.addFault(new Rule("unused", "drop-answer").match(Map.of("api", "Produce")));
        var error = assertThrows(AssertionError.class, () -> BROKER.check());
        assertTrue(error.getMessage().contains("unused"));
        assertTrue(BROKER.faults().isEmpty());
    }

    @Test
    void aScenarioHappensAndAResetForgetsIt() {
        BROKER.reset();
        var outcome = BROKER.runScenario("lost-commit-answer");
        assertEquals("NONE", outcome.get("facts").get("second_answer").asText());
        BROKER.reset();
        assertTrue(BROKER.topics().stream().noneMatch(each -> each.get("name").asText().equals("orders")));
    }

    @Test
    void stopLeavesNoProcess() {
        var broker = new Fencepost();
        broker.start();
        broker.stop();
        assertFalse(ProcessHandle.of(broker.pid()).map(ProcessHandle::isAlive).orElse(false));
    }

    private static KafkaProducer<String, String> begun(String id, String topic, String value) {
        Map<String, Object> config = Map.of(
                "bootstrap.servers", BROKER.bootstrap(),
                "transactional.id", id,
                "transaction.timeout.ms", 30_000);
        var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        producer.beginTransaction();
        producer.send(new ProducerRecord<>(topic, value));
        producer.flush();
        return producer;
    }

    private static KafkaConsumer<String, String> reader(String topic) {
        Map<String, Object> config = Map.of(
                "bootstrap.servers", BROKER.bootstrap(),
                "isolation.level", "read_committed",
                "auto.offset.reset", "earliest");
        var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
        consumer.assign(List.of(new TopicPartition(topic, 0)));
        return consumer;
    }

    private static List<String> read(KafkaConsumer<String, String> consumer, int count) {
        List<String> values = new ArrayList<>();
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (values.size() < count && System.nanoTime() < deadline) {
            consumer.poll(Duration.ofMillis(100)).forEach(record -> values.add(record.value()));
        }
        return values;
    }
}

package fencepost.clients;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A reader: see tests/kill/matrix/words.py. */
public final class ReadCommitted {
    private static final Duration POLL = Duration.ofMillis(200);

    private ReadCommitted() {}

    /** Called as ReadCommitted BOOTSTRAP --NAME=VALUE... */
    public static void main(String[] arguments) {
        Map<String, String> options = Words.options(arguments);
        AtomicBoolean finishes = new AtomicBoolean();
        Words.hear(word -> finishes.set(true));
        List<TopicPartition> places =
                IntStream.range(0, Integer.parseInt(options.get("partitions")))
                        .mapToObj(number -> new TopicPartition(options.get("sink"), number))
                        .collect(Collectors.toList());
        Map<String, Object> reading =
                Map.of(
                        "bootstrap.servers", arguments[0],
                        "isolation.level", "read_committed",
                        "auto.offset.reset", "earliest",
                        "enable.auto.commit", false);
        try (KafkaConsumer<byte[], String> consumer =
                new KafkaConsumer<>(
                        reading, new ByteArrayDeserializer(), new StringDeserializer())) {
            consumer.assign(places);
            Map<TopicPartition, Long> ends = null;
            while (ends == null || !isAt(consumer, ends)) {
                if (ends == null && finishes.get()) {
                    ends = consumer.endOffsets(places);
                }
                tell(consumer.poll(POLL));
            }
        }
    }

    private static boolean isAt(
            KafkaConsumer<byte[], String> consumer, Map<TopicPartition, Long> ends) {
        return ends.entrySet().stream()
                .allMatch(each -> consumer.position(each.getKey()) >= each.getValue());
    }

    private static void tell(ConsumerRecords<byte[], String> records) {
        for (TopicPartition place : records.partitions()) {
            String values =
                    records.records(place).stream()
                            .map(ConsumerRecord::value)
                            .collect(Collectors.joining(" "));
            Words.say("values", place.partition(), values);
        }
    }
}

package fencepost.streams;

import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

import java.time.Duration;
import java.util.Arrays;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;

/**
 * Counts words: WordCount BOOTSTRAP INPUT OUTPUT SETTING=VALUE...
 *
 * <p>Lines are read from INPUT; each of their words goes through a repartition topic to the task
 * that counts it, and each new count to OUTPUT. Prints the application's state whenever it changes;
 * ends in an orderly way when it is told to (SIGTERM), and with 1 when it has failed.
 */
public final class WordCount {
    private WordCount() {}

    public static void main(String[] arguments) throws InterruptedException {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        for (String word : Arrays.asList(arguments).subList(3, arguments.length)) {
            String[] nameAndValue = word.split("=", 2);
            settings.put(nameAndValue[0], nameAndValue[1]);
        }
        KafkaStreams streams = new KafkaStreams(topology(arguments[1], arguments[2]), settings);
        CountDownLatch failed = new CountDownLatch(1);
        streams.setStateListener(
                (now, before) -> {
                    System.out.println("state " + now);
                    if (now == KafkaStreams.State.ERROR) {
                        failed.countDown();
                    }
                });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(streams)));
        streams.start();
        failed.await();
        System.exit(1);
    }

    private static void close(KafkaStreams streams) {
        System.out.println(streams.close(Duration.ofSeconds(60)) ? "closed" : "not closed");
    }

    private static Topology topology(String input, String output) {
        Serde<String> text = Serdes.String();
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(input, Consumed.with(text, text))
                .flatMapValues(line -> Arrays.asList(line.split(" ")))
                .groupBy((key, word) -> word, Grouped.with("by-word", text, text))
                .count(
                        Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts")
                                .withKeySerde(text)
                                .withValueSerde(Serdes.Long()))
                .toStream()
                .to(output, Produced.with(text, Serdes.Long()));
        return builder.build();
    }
}

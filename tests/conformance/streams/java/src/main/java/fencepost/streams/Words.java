package fencepost.streams;

import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

/**
 * Feeds a word count, and checks what it counts: Words BOOTSTRAP INPUT OUTPUT LINES_PER_SECOND.
 *
 * <p>Makes both topics, writes lines until its standard input has something to say or ends, and all
 * the while reads committed counts. Prints how many there are now and then; at the end, when
 * every word that was written is counted and nothing more is there, what is wrong with them.
 */
public final class Words {
    private static final int PARTITIONS = 4;
    /** How many replicas a topic has: default.replication.factor. */
    private static final short AS_BROKERS_SAY = -1;
    private static final int DIFFERENT_WORDS = 60;
    private static final Duration POLL = Duration.ofMillis(20);
    /** So long without a new count, and some are lost: the end is told without them. */
    private static final long GIVE_UP_MS = 60_000;

    private final String bootstrap;
    private final String input;
    private final String output;
    private final Random random = new Random(2026);
    private final Map<String, Long> written = new TreeMap<>();
    private final Map<String, Long> counted = new HashMap<>();
    private final List<String> problems = new ArrayList<>();
    private final AtomicReference<Exception> refused = new AtomicReference<>();
    private long lines;
    private long words;
    private long counts;

    private Words(String bootstrap, String input, String output) {
        this.bootstrap = bootstrap;
        this.input = input;
        this.output = output;
    }

    public static void main(String[] arguments) throws Exception {
        Words run = new Words(arguments[0], arguments[1], arguments[2]);
        run.createTopics();
        run.feedAndCheck(Integer.parseInt(arguments[3]));
        System.exit(0);
    }

    private void createTopics() throws Exception {
        try (AdminClient admin = AdminClient.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.createTopics(
                            List.of(
                                    new NewTopic(input, PARTITIONS, AS_BROKERS_SAY),
                                    new NewTopic(output, PARTITIONS, AS_BROKERS_SAY)))
                    .all()
                    .get();
        }
        System.out.println("topics");
    }

    private void feedAndCheck(int linesPerSecond) throws Exception {
        try (KafkaProducer<String, String> producer = producer();
                KafkaConsumer<String, Long> consumer = consumer("read_committed")) {
            long start = System.nanoTime();
            while (System.in.available() == 0) {
                long due = (System.nanoTime() - start) * linesPerSecond / 1_000_000_000L;
                while (lines < due) {
                    write(producer);
                }
                read(consumer);
            }
            producer.flush();
            System.out.println("written " + words);
            long last = System.currentTimeMillis();
            while (counts < words && System.currentTimeMillis() - last < GIVE_UP_MS) {
                if (read(consumer) > 0) {
                    last = System.currentTimeMillis();
                }
            }
            readToTheEnd(consumer);
        }
        tell();
    }

    private void write(KafkaProducer<String, String> producer) throws Exception {
        List<String> line = new ArrayList<>();
        for (int left = 1 + random.nextInt(5); left > 0; left--) {
            // Some words are much more frequent than others.
            int word = random.nextInt(1 + random.nextInt(DIFFERENT_WORDS));
            line.add("word-" + word);
            written.merge("word-" + word, 1L, Long::sum);
        }
        lines++;
        words += line.size();
        producer.send(
                new ProducerRecord<>(input, "line-" + lines, String.join(" ", line)),
                (where, error) -> refused.compareAndSet(null, error));
        if (refused.get() != null) {
            throw refused.get();
        }
    }

    private int read(KafkaConsumer<String, Long> consumer) {
        int found = 0;
        for (ConsumerRecord<String, Long> count : consumer.poll(POLL)) {
            long before = counted.getOrDefault(count.key(), 0L);
            if (count.value() != before + 1 && problems.size() < 20) {
                problems.add(
                        String.format(
                                "%s %d after %d, at %s-%d offset %d",
                                count.key(),
                                count.value(),
                                before,
                                output,
                                count.partition(),
                                count.offset()));
            }
            counted.put(count.key(), count.value());
            found++;
        }
        if (counts / 500 < (counts + found) / 500) {
            System.out.println("counted " + (counts + found));
        }
        counts += found;
        return found;
    }

    /** What comes behind the last count that is due would be one too many. */
    private void readToTheEnd(KafkaConsumer<String, Long> consumer) {
        Map<TopicPartition, Long> ends;
        try (KafkaConsumer<String, Long> all = consumer("read_uncommitted")) {
            ends = all.endOffsets(places());
        }
        long last = System.currentTimeMillis();
        while (!ends.entrySet().stream()
                .allMatch(end -> consumer.position(end.getKey()) >= end.getValue())) {
            if (read(consumer) > 0) {
                last = System.currentTimeMillis();
            } else if (System.currentTimeMillis() - last > GIVE_UP_MS) {
                problems.add("a transaction in the output stays open: " + ends);
                return;
            }
        }
    }

    private void tell() {
        written.forEach(
                (word, times) -> {
                    long found = counted.getOrDefault(word, 0L);
                    if (found != times && problems.size() < 40) {
                        problems.add(word + " is counted " + found + " times instead of " + times);
                    }
                });
        if (counts != words) {
            problems.add(counts + " counts of " + words + " words");
        }
        problems.forEach(problem -> System.out.println("wrong " + problem));
        System.out.printf(
                "end lines=%d words=%d counts=%d uncommitted=%d%n",
                lines, words, counts, withUncommitted());
    }

    /** How many counts a reader of uncommitted ones finds: those of aborted transactions as well. */
    private long withUncommitted() {
        long found = 0;
        try (KafkaConsumer<String, Long> all = consumer("read_uncommitted")) {
            Map<TopicPartition, Long> ends = all.endOffsets(places());
            while (!ends.entrySet().stream()
                    .allMatch(end -> all.position(end.getKey()) >= end.getValue())) {
                found += all.poll(POLL).count();
            }
        }
        return found;
    }

    private List<TopicPartition> places() {
        return IntStream.range(0, PARTITIONS).mapToObj(i -> new TopicPartition(output, i)).toList();
    }

    private KafkaProducer<String, String> producer() {
        Map<String, Object> settings =
                Map.of("bootstrap.servers", bootstrap, "linger.ms", 5, "enable.idempotence", true);
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    private KafkaConsumer<String, Long> consumer(String isolation) {
        Map<String, Object> settings =
                Map.of("bootstrap.servers", bootstrap, "isolation.level", isolation);
        KafkaConsumer<String, Long> consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new LongDeserializer());
        consumer.assign(places());
        consumer.seekToBeginning(places());
        return consumer;
    }
}

// Apache Kafka's transactional producer, told line by line what to do: "start ADDRESS", "begin",
// "send VALUE", "wait" for all outcomes, "offsets", "commit", "abort", "close".
// Each line is answered by one: "ok", or an error's class.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;

public class KafkaTransactions {
    private static final List<Future<RecordMetadata>> sent = new ArrayList<>();

    private static KafkaProducer<String, String> producer;

    public static void main(String[] args) throws Exception {
        // Standard output belongs to the answers; what Kafka logs goes to the other one.
        PrintStream answers = System.out;
        System.setOut(System.err);
        Properties config = new Properties();
        for (String arg : args) {
            String[] pair = arg.split("=", 2);
            config.put(pair[0], pair[1]);
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            answers.println(outcome(config, line));
        }
    }

    /** An abort may return before the epoch is raised; until then there is no beginning. */
    private static void begin() throws InterruptedException {
        for (int attempt = 0; attempt < 500; attempt++) {
            try {
                producer.beginTransaction();
                return;
            } catch (IllegalStateException early) {
                Thread.sleep(10);
            }
        }
        producer.beginTransaction();
    }

    private static String outcome(Properties config, String line)
            throws InterruptedException {
        try {
            switch (line.split(" ")[0]) {
                case "start" -> {
                    sent.clear();
                    config.put("bootstrap.servers", line.substring(6));
                    producer = new KafkaProducer<>(
                        config, new StringSerializer(), new StringSerializer());
                    producer.initTransactions();
                }
                case "close" -> producer.close(Duration.ZERO);
                case "begin" -> begin();
                case "commit" -> producer.commitTransaction();
                case "abort" -> producer.abortTransaction();
                case "offsets" -> producer.sendOffsetsToTransaction(
                    Map.of(new TopicPartition("t", 0), new OffsetAndMetadata(1)),
                    new ConsumerGroupMetadata("g"));
                case "wait" -> {
                    List<Future<RecordMetadata>> waited = new ArrayList<>(sent);
                    sent.clear();
                    for (Future<RecordMetadata> each : waited) {
                        each.get();
                    }
                }
                default -> sent.add(
                    producer.send(new ProducerRecord<>("t", 0, null, line.substring(5))));
            }
            return "ok";
        } catch (ExecutionException error) {
            return error.getCause().getClass().getSimpleName();
        } catch (KafkaException | IllegalStateException error) {
            return error.getClass().getSimpleName();
        }
    }
}

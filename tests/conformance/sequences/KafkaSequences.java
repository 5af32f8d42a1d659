// Apache Kafka's producer, told line by line what to do: "send VALUE", and "wait" for all outcomes.
// Prints one line per record in the end: its value, and "ok" or the class of its error.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

public class KafkaSequences {
    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        for (String arg : args) {
            String[] pair = arg.split("=", 2);
            config.put(pair[0], pair[1]);
        }
        Map<String, Future<RecordMetadata>> sent = new LinkedHashMap<>();
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith("send ")) {
                    String value = line.substring(5);
                    sent.put(value, producer.send(new ProducerRecord<>("t", 0, null, value)));
                } else {
                    for (Future<RecordMetadata> each : sent.values()) {
                        outcome(each);
                    }
                }
            }
            for (Map.Entry<String, Future<RecordMetadata>> each : sent.entrySet()) {
                System.out.println(each.getKey() + " " + outcome(each.getValue()));
            }
        }
    }

    private static String outcome(Future<RecordMetadata> sent) throws InterruptedException {
        try {
            sent.get();
            return "ok";
        } catch (ExecutionException error) {
            return error.getCause().getClass().getSimpleName();
        }
    }
}

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.AppInfoParser;

/** A committed and an aborted transaction, read by a group with read_committed. */
public class Round {
  private static final int ATTEMPTS = 100;

  public static void main(String[] arguments) throws Exception {
    String topic = arguments[1];
    Map<String, Object> common = new HashMap<>();
    common.put("bootstrap.servers", arguments[0]);
    Map<String, Object> ofProducer = new HashMap<>(common);
    ofProducer.put("transactional.id", topic);
    TopicPartition partition = new TopicPartition(topic, 0);
    try (var producer =
        new KafkaProducer<>(ofProducer, new StringSerializer(), new StringSerializer())) {
      producer.initTransactions();
      transaction(producer, topic, "committed", true);
      transaction(producer, topic, "aborted", false);
      producer.beginTransaction();
      producer.send(new ProducerRecord<>(topic, "with offsets")).get();
      Map<String, Object> ofGroup = new HashMap<>(common);
      ofGroup.put("group.id", topic);
      ofGroup.put("isolation.level", "read_committed");
      ofGroup.put("auto.offset.reset", "earliest");
      ofGroup.put("enable.auto.commit", "false");
      List<String> values = new ArrayList<>();
      try (var consumer =
          new KafkaConsumer<>(ofGroup, new StringDeserializer(), new StringDeserializer())) {
        consumer.subscribe(List.of(topic));
        read(consumer, 1, values);
        var offsets = Map.of(partition, new OffsetAndMetadata(consumer.position(partition)));
        producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
        producer.commitTransaction();
        read(consumer, 2, values);
        consumer.commitSync();
      }
      System.out.println(AppInfoParser.getVersion() + ": " + String.join(", ", values));
    }
  }

  private static void transaction(
      KafkaProducer<String, String> producer, String topic, String value, boolean isCommitted)
      throws Exception {
    producer.beginTransaction();
    producer.send(new ProducerRecord<>(topic, value)).get();
    if (isCommitted) {
      producer.commitTransaction();
    } else {
      producer.abortTransaction();
    }
  }

  private static void read(KafkaConsumer<String, String> consumer, int count, List<String> values) {
    for (int attempt = 0; values.size() < count && attempt < ATTEMPTS; attempt++) {
      for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
        values.add(record.value());
      }
    }
  }
}

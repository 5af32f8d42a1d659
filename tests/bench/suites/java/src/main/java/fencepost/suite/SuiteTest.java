package fencepost.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The same hundred tests as there are in Python. SUITE_BROKER is the broker's address, and
 * SUITE_FETCH_WAIT_MS the consumers' fetch.max.wait.ms.
 */
class SuiteTest {
  private static final List<String> VALUES = IntStream.range(0, 10).mapToObj(String::valueOf).toList();
  private static final String BOOTSTRAP = System.getenv("SUITE_BROKER");
  private static final String FETCH_WAIT_MS =
      System.getenv().getOrDefault("SUITE_FETCH_WAIT_MS", "500");

  static IntStream numbers() {
    return IntStream.range(0, 100);
  }

  @ParameterizedTest
  @MethodSource("numbers")
  void recordsWrittenInATransactionAreReadInAGroup(int number) throws Exception {
    var topic = "orders-" + number;
    try (var admin = Admin.create(Map.<String, Object>of("bootstrap.servers", BOOTSTRAP))) {
      admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();

      Map<String, Object> writer =
          Map.of("bootstrap.servers", BOOTSTRAP, "transactional.id", "writer-" + number);
      try (var producer = new KafkaProducer<>(writer, new StringSerializer(), new StringSerializer())) {
        producer.initTransactions();
        producer.beginTransaction();
        VALUES.forEach(value -> producer.send(new ProducerRecord<>(topic, value)));
        producer.commitTransaction();
      }

      Map<String, Object> reader =
          Map.of(
              "bootstrap.servers", BOOTSTRAP,
              "group.id", "readers-" + number,
              "auto.offset.reset", "earliest",
              "isolation.level", "read_committed",
              "fetch.max.wait.ms", FETCH_WAIT_MS,
              "enable.auto.commit", false);
      try (var consumer =
          new KafkaConsumer<>(reader, new StringDeserializer(), new StringDeserializer())) {
        consumer.subscribe(List.of(topic));
        var read = new ArrayList<String>();
        while (read.size() < VALUES.size()) {
          consumer.poll(Duration.ofSeconds(30)).forEach(each -> read.add(each.value()));
        }
        consumer.commitSync();
        assertEquals(VALUES, read);
      }
      assertTrue(admin.listTopics().names().get().contains(topic));
    }
  }
}

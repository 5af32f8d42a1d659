package applications;

import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.messaging.handler.annotation.SendTo;

/** Spring for Apache Kafka: a listener in a transaction whose result is sent on. */
@Configuration
@EnableKafka
public class Spring {
    private static final String SERVERS = System.getenv("BOOTSTRAP");

    public static void main(String[] arguments) throws InterruptedException {
        try (var context = new AnnotationConfigApplicationContext(Spring.class)) {
            Thread.currentThread().join();
        }
    }

    @KafkaListener(topics = "orders", groupId = "invoicing", concurrency = "3")
    @SendTo("invoices")
    String invoice(String order) {
        return "invoice for " + order;
    }

    @Bean
    DefaultKafkaProducerFactory<String, String> producers() {
        var producers =
                new DefaultKafkaProducerFactory<String, String>(
                        Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, SERVERS),
                        new StringSerializer(),
                        new StringSerializer());
        producers.setTransactionIdPrefix("invoicing-");
        return producers;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory(
            DefaultKafkaProducerFactory<String, String> producers) {
        Map<String, Object> settings =
                Map.of(
                        ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, SERVERS,
                        ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
                        ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed",
                        ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, 6000,
                        ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 20);
        var factory = new ConcurrentKafkaListenerContainerFactory<String, String>();
        factory.setConsumerFactory(
                new DefaultKafkaConsumerFactory<>(
                        settings, new StringDeserializer(), new StringDeserializer()));
        factory.getContainerProperties()
                .setKafkaAwareTransactionManager(new KafkaTransactionManager<>(producers));
        factory.setReplyTemplate(new KafkaTemplate<>(producers));
        return factory;
    }
}

package applications;

import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/** Debezium's engine: each change of a row is sent on, and its position kept in a topic after that. */
public class Debezium {
    private static final String SERVERS = System.getenv("BOOTSTRAP");
    private static final Map<String, String> SETTINGS =
            Map.ofEntries(
                    Map.entry("name", "invoicing"),
                    Map.entry("connector.class", "io.debezium.connector.postgresql.PostgresConnector"),
                    Map.entry("plugin.name", "pgoutput"),
                    Map.entry("database.hostname", "localhost"),
                    Map.entry("database.user", "postgres"),
                    Map.entry("database.password", "postgres"),
                    Map.entry("database.dbname", "postgres"),
                    Map.entry("topic.prefix", "shop"),
                    Map.entry("table.include.list", "public.invoices"),
                    // All changes are in the slot, which is there before.
                    Map.entry("snapshot.mode", "no_data"),
                    Map.entry("publication.autocreate.mode", "disabled"),
                    Map.entry("max.batch.size", "50"),
                    Map.entry("offset.storage", "org.apache.kafka.connect.storage.KafkaOffsetBackingStore"),
                    Map.entry("offset.storage.topic", "positions"),
                    Map.entry("offset.storage.partitions", "1"),
                    Map.entry("offset.storage.replication.factor", "1"),
                    Map.entry("offset.flush.interval.ms", "200"),
                    Map.entry("bootstrap.servers", SERVERS),
                    Map.entry("key.converter.schemas.enable", "false"),
                    Map.entry("value.converter.schemas.enable", "false"),
                    Map.entry("transforms", "unwrap"),
                    Map.entry("transforms.unwrap.type", "io.debezium.transforms.ExtractNewRecordState"));

    public static void main(String[] arguments) {
        Properties settings = new Properties();
        settings.putAll(SETTINGS);
        Map<String, Object> producing = Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, SERVERS);
        try (var producer =
                new KafkaProducer<>(producing, new StringSerializer(), new StringSerializer())) {
            DebeziumEngine.create(Json.class)
                    .using(settings)
                    .notifying((changes, committer) -> send(producer, changes, committer))
                    .using((success, message, error) -> end(message, error))
                    .build()
                    .run();
        }
    }

    private static void send(
            KafkaProducer<String, String> producer,
            List<ChangeEvent<String, String>> changes,
            DebeziumEngine.RecordCommitter<ChangeEvent<String, String>> committer)
            throws InterruptedException {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (var change : changes) {
            sent.add(
                    producer.send(
                            new ProducerRecord<>(
                                    change.destination(), change.key(), change.value())));
        }
        for (int number = 0; number < changes.size(); number++) {
            try {
                sent.get(number).get();
            } catch (ExecutionException error) {
                throw new IllegalStateException(error);
            }
            committer.markProcessed(changes.get(number));
        }
        committer.markBatchFinished();
    }

    private static void end(String message, Throwable error) {
        System.err.println(message);
        if (error != null) {
            error.printStackTrace();
        }
        System.exit(1);
    }
}

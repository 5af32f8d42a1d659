package applications;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Flink: positions are in its checkpoints, and the sink commits a transaction after each. */
public class Flink {
    public static void main(String[] arguments) throws Exception {
        Path state = Path.of(System.getenv("STATE"));
        String servers = System.getenv("BOOTSTRAP");
        Configuration settings = new Configuration();
        settings.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
        settings.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, state.toUri().toString());
        settings.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        lastCheckpoint(state)
                .ifPresent(
                        path ->
                                settings.set(
                                        StateRecoveryOptions.SAVEPOINT_PATH,
                                        path.toUri().toString()));

        var environment = StreamExecutionEnvironment.getExecutionEnvironment(settings);
        environment.setParallelism(2);
        environment.enableCheckpointing(500);
        KafkaSource<String> orders =
                KafkaSource.<String>builder()
                        .setBootstrapServers(servers)
                        .setTopics("orders")
                        .setGroupId("invoicing")
                        .setStartingOffsets(OffsetsInitializer.earliest())
                        .setValueOnlyDeserializer(new SimpleStringSchema())
                        .build();
        KafkaSink<String> invoices =
                KafkaSink.<String>builder()
                        .setBootstrapServers(servers)
                        .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                        .setTransactionalIdPrefix("invoicing")
                        .setProperty("transaction.timeout.ms", "60000")
                        .setRecordSerializer(
                                KafkaRecordSerializationSchema.<String>builder()
                                        .setTopic("invoices")
                                        .setValueSerializationSchema(new SimpleStringSchema())
                                        .build())
                        .build();
        environment
                .fromSource(orders, WatermarkStrategy.noWatermarks(), "orders")
                .map(order -> "invoice for " + order)
                .sinkTo(invoices);
        environment.execute();
    }

    private static Optional<Path> lastCheckpoint(Path state) throws IOException {
        try (var paths = Files.walk(state)) {
            return paths.filter(path -> path.endsWith("_metadata"))
                    .max(Comparator.comparing(path -> path.toFile().lastModified()))
                    .map(Path::getParent);
        }
    }
}

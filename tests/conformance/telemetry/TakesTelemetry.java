package fencepost;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.server.telemetry.ClientTelemetry;
import org.apache.kafka.server.telemetry.ClientTelemetryReceiver;

/** A reporter that takes the metrics of clients: without one, Apache Kafka does not ask for them. */
public final class TakesTelemetry implements MetricsReporter, ClientTelemetry {
    @Override
    public void init(List<KafkaMetric> metrics) {}

    @Override
    public void metricChange(KafkaMetric metric) {}

    @Override
    public void metricRemoval(KafkaMetric metric) {}

    @Override
    public void close() {}

    @Override
    public void configure(Map<String, ?> configs) {}

    @Override
    public ClientTelemetryReceiver clientReceiver() {
        return (context, payload) -> {};
    }
}

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Java's share consumer: says what it is given, and what becomes of its acknowledgements. */
public final class SharesRecords {
    private static final Duration A_WHILE = Duration.ofMillis(500);
    private static final String TOPIC = "orders";
    private static final String GROUP = "shippers";

    private final Properties where = new Properties();

    private SharesRecords(String bootstrap) {
        where.put("bootstrap.servers", bootstrap);
    }

    public static void main(String[] arguments) throws Exception {
        SharesRecords run = new SharesRecords(arguments[0]);
        run.prepare();
        run.acknowledgeEach();
        run.letALockEnd();
        run.acceptAll();
    }

    private void prepare() throws Exception {
        try (Admin admin = Admin.create(where)) {
            admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1))).all().get();
            ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, GROUP);
            List<AlterConfigOp> changes = new ArrayList<>();
            for (String[] each : new String[][] {
                {"share.auto.offset.reset", "earliest"}, {"share.record.lock.duration.ms", "3000"}
            }) {
                ConfigEntry entry = new ConfigEntry(each[0], each[1]);
                changes.add(new AlterConfigOp(entry, AlterConfigOp.OpType.SET));
            }
            admin.incrementalAlterConfigs(Map.of(group, changes)).all().get();
        }
    }

    private void acknowledgeEach() throws Exception {
        produce("a", 9);
        try (KafkaShareConsumer<String, String> consumer = consumer("explicit")) {
            int number = 0;
            for (ConsumerRecord<String, String> record : take(consumer, 9)) {
                AcknowledgeType[] types = {
                    AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT
                };
                consumer.acknowledge(record, types[number++ % 3]);
            }
            say("committed", consumer.commitSync().values());
            for (ConsumerRecord<String, String> record : take(consumer, 3)) {
                consumer.acknowledge(record, AcknowledgeType.ACCEPT);
            }
            say("committed", consumer.commitSync().values());
        }
    }

    private void letALockEnd() throws Exception {
        produce("b", 3);
        try (KafkaShareConsumer<String, String> slow = consumer("explicit");
                KafkaShareConsumer<String, String> other = consumer("explicit")) {
            List<ConsumerRecord<String, String>> held = take(slow, 3);
            for (ConsumerRecord<String, String> record : take(other, 3)) {
                other.acknowledge(record, AcknowledgeType.ACCEPT);
            }
            say("committed", other.commitSync().values());
            held.forEach(record -> slow.acknowledge(record, AcknowledgeType.ACCEPT));
            slow.commitSync()
                    .values()
                    .forEach(
                            error ->
                                    say(
                                            "too late",
                                            error.map(each -> each.getClass().getSimpleName())));
        }
    }

    private void acceptAll() throws Exception {
        produce("c", 4);
        try (KafkaShareConsumer<String, String> consumer = consumer("implicit")) {
            take(consumer, 4);
            consumer.commitSync();
        }
        try (KafkaShareConsumer<String, String> consumer = consumer("implicit")) {
            produce("d", 1);
            take(consumer, 1);
        }
    }

    private KafkaShareConsumer<String, String> consumer(String mode) {
        Properties settings = new Properties();
        settings.putAll(where);
        settings.put("group.id", GROUP);
        settings.put("share.acknowledgement.mode", mode);
        KafkaShareConsumer<String, String> consumer =
                new KafkaShareConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(TOPIC));
        return consumer;
    }

    private List<ConsumerRecord<String, String>> take(
            KafkaShareConsumer<String, String> consumer, int count) {
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        long end = System.currentTimeMillis() + 60_000;
        while (found.size() < count && System.currentTimeMillis() < end) {
            consumer.poll(A_WHILE).forEach(found::add);
        }
        Map<String, Integer> told = new TreeMap<>();
        found.forEach(record -> told.put(record.value(), record.deliveryCount().get().intValue()));
        say("given", told);
        return found;
    }

    private void produce(String name, int count) throws Exception {
        Properties settings = new Properties();
        settings.putAll(where);
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int number = 0; number < count; number++) {
                producer.send(new ProducerRecord<>(TOPIC, name + number)).get();
            }
        }
    }

    private static void say(String what, Object value) {
        System.out.println(what + " " + value);
    }
}

package fencepost.clients;

import static fencepost.clients.Cluster.createTopic;
import static fencepost.clients.Cluster.expectRows;
import static fencepost.clients.Cluster.fromBeginning;
import static fencepost.clients.Cluster.produce;
import static fencepost.clients.Cluster.read;
import static fencepost.clients.Cluster.to;
import static fencepost.clients.Script.eventually;
import static fencepost.clients.Script.expect;
import static fencepost.clients.Script.refused;

import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.RecordTooLargeException;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

final class ProduceScenario {
    private final Script script;
    private final String topic;
    private int partitionsUsed = 0;

    private ProduceScenario(Script script) {
        this.script = script;
        this.topic = script.name("produce");
    }

    static void run(Script script) throws Exception {
        ProduceScenario scenario = new ProduceScenario(script);
        createTopic(script, scenario.topic, 30);
        scenario.roundTrips();
        scenario.acknowledgements();
        scenario.timestamps();
        scenario.refusals();
    }

    /** Writes to a partition that is still empty and expects the same there. */
    private List<RecordMetadata> roundTrip(List<Row> rows, Object... namesAndValues)
            throws Exception {
        int partition = partitionsUsed++;
        List<Cluster.Sent> sent = to(partition, rows.toArray(Row[]::new));
        List<RecordMetadata> answers = produce(script, topic, sent, namesAndValues);
        Map<Integer, Long> start = Map.of(partition, 0L);
        if (List.of(namesAndValues).containsAll(List.of("acks", "0"))) {
            eventually(
                    () -> read(script, topic, start).get(partition).size() == rows.size(),
                    "what was written without acknowledgement is there");
        }
        expectRows(read(script, topic, start), Map.of(partition, rows));
        return answers;
    }

    private static List<Row> rows(int count) {
        return IntStream.range(0, count).mapToObj(Row::number).toList();
    }

    private void roundTrips() {
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            script.check("codec-" + codec, () -> roundTrip(rows(100), "compression.type", codec));
        }
        script.check(
                "headers",
                () -> {
                    List<String> headers =
                            List.of(
                                    Row.header("b", new byte[] {0, (byte) 255}),
                                    Row.header("a", new byte[] {1}),
                                    Row.header("b", new byte[] {2}),
                                    Row.header("", new byte[0]));
                    roundTrip(List.of(Row.of(new byte[] {1}, new byte[] {2}, headers)));
                });
        script.check(
                "null-header",
                () -> {
                    List<String> headers =
                            List.of(Row.header("null", null), Row.header("empty", new byte[0]));
                    roundTrip(List.of(Row.of(new byte[] {1}, new byte[] {2}, headers)));
                });
        script.check(
                "null-key", () -> roundTrip(List.of(Row.of(null, "value"), Row.of("", "value"))));
        script.check(
                "null-value", () -> roundTrip(List.of(Row.of("key", null), Row.of("key", ""))));
        script.check(
                "large-message",
                () -> {
                    byte[] value = new byte[900_000];
                    for (int i = 0; i < value.length; i++) {
                        value[i] = (byte) (i % 251 * i);
                    }
                    roundTrip(List.of(Row.of(new byte[] {1}, value, List.of())));
                });
    }

    private void acknowledgements() {
        for (String acks : List.of("0", "1", "all")) {
            script.check(
                    "acks-" + acks,
                    () -> {
                        List<RecordMetadata> answers =
                                roundTrip(rows(10), "acks", acks, "enable.idempotence", false);
                        if (!acks.equals("0")) {
                            List<Long> offsets =
                                    answers.stream().map(RecordMetadata::offset).toList();
                            expect(
                                    offsets,
                                    LongStream.range(0, 10).boxed().toList(),
                                    "the acknowledged offsets");
                        }
                    });
        }
        script.check(
                "idempotent",
                () -> roundTrip(rows(100), "enable.idempotence", true, "batch.size", 500));
        script.check(
                "partition",
                () -> {
                    List<Cluster.Sent> sent = new ArrayList<>();
                    for (int i = 0; i < 3; i++) {
                        sent.add(new Cluster.Sent(partitionsUsed++, Row.number(0)));
                    }
                    List<RecordMetadata> answers = produce(script, topic, sent);
                    Map<Integer, Long> starts = new HashMap<>();
                    Map<Integer, List<Row>> wanted = new HashMap<>();
                    for (int i = 0; i < 3; i++) {
                        int partition = sent.get(i).partition();
                        expect(answers.get(i).partition(), partition, "the partition");
                        starts.put(partition, 0L);
                        wanted.put(partition, List.of(Row.number(0)));
                    }
                    expectRows(read(script, topic, starts), wanted);
                });
    }

    private void timestamps() {
        script.check(
                "timestamp",
                () -> roundTrip(List.of(Row.of("key", "a").at(1), Row.of("key", "b").at(2))));
        script.check(
                "log-append-time",
                () -> {
                    String name = script.name("log-append-time");
                    createTopic(script, name, 1, "message.timestamp.type", "LogAppendTime");
                    RecordMetadata answer = produce(script, name, to(0, Row.number(0))).get(0);
                    Row stored = read(script, name, fromBeginning(1)).get(0).get(0).row();
                    expect(
                            stored.timestamp(),
                            answer.timestamp(),
                            "the timestamp as it was acknowledged");
                    expect(
                            stored.timestamp() > Row.FIRST_TIMESTAMP,
                            true,
                            "the broker's time is later");
                });
        script.check(
                "auto-create",
                () -> {
                    String name = script.name("auto-created");
                    Row fresh = Row.number(0).at(System.currentTimeMillis());
                    produce(script, name, to(0, fresh));
                    expectRows(read(script, name, fromBeginning(1)), Map.of(0, List.of(fresh)));
                });
    }

    private void refusals() {
        script.check(
                "too-large-message",
                () -> {
                    String name = script.name("small");
                    createTopic(script, name, 1, "max.message.bytes", "10000");
                    Row large = Row.of(new byte[1], new byte[20_000], List.of());
                    refused(
                            RecordTooLargeException.class,
                            () -> produce(script, name, to(0, large)));
                    expect(
                            produce(script, name, to(0, Row.number(0))).get(0).offset(),
                            0L,
                            "the next record's offset");
                });
        script.check(
                "compacted-null-key",
                () -> {
                    String name = script.name("compacted");
                    createTopic(script, name, 1, "cleanup.policy", "compact");
                    Row withoutKey = Row.of(null, "value");
                    refused(
                            InvalidRecordException.class,
                            () -> produce(script, name, to(0, withoutKey)));
                    expect(
                            produce(script, name, to(0, Row.number(0))).get(0).offset(),
                            0L,
                            "the next record's offset");
                });
    }
}

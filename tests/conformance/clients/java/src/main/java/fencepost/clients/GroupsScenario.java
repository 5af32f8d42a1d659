package fencepost.clients;

import static fencepost.clients.Script.eventually;
import static fencepost.clients.Script.expect;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/** Two members share a topic; once by each of the two group protocols. */
final class GroupsScenario {
    private static final int PARTITIONS = 4;

    private final Script script;
    private final String group;
    private final Object[] config;

    private GroupsScenario(Script script, String group, Object... config) {
        this.script = script;
        this.group = group;
        this.config = config;
    }

    static void classic(Script script) throws Exception {
        new GroupsScenario(
                        script,
                        script.name("groups"),
                        "group.protocol",
                        "classic",
                        "heartbeat.interval.ms",
                        300)
                .run();
    }

    static void consumerProtocol(Script script) throws Exception {
        new GroupsScenario(script, script.name("groups-848"), "group.protocol", "consumer").run();
    }

    private KafkaConsumer<byte[], byte[]> member() {
        return member(Map.of("group.id", group, "auto.offset.reset", "earliest"));
    }

    private KafkaConsumer<byte[], byte[]> member(Map<String, Object> more) {
        Map<String, Object> all = script.config(config);
        all.put("enable.auto.commit", false);
        all.put("fetch.max.wait.ms", 50);
        all.putAll(more);
        KafkaConsumer<byte[], byte[]> consumer = Cluster.consumer(all);
        consumer.subscribe(List.of(group));
        return consumer;
    }

    private void run() throws Exception {
        Cluster.createTopic(script, group, PARTITIONS);
        try (Admin admin = Cluster.admin(script)) {
            try (KafkaConsumer<byte[], byte[]> first = member()) {
                try (KafkaConsumer<byte[], byte[]> second = member()) {
                    together(admin, first, second);
                }
                script.check(
                        "leave",
                        () -> {
                            pollUntil(() -> assigned(first).size() == PARTITIONS, List.of(first));
                        });
            }
            script.check(
                    "resume",
                    () -> {
                        writeNumbers(40, 60);
                        try (KafkaConsumer<byte[], byte[]> third = member()) {
                            expect(
                                    pollNumbers(20, List.of(third)),
                                    numbers(40, 60),
                                    "the numbers of the new records");
                            third.commitSync();
                        }
                        expect(
                                committed(admin),
                                Map.of(0, 15L, 1, 15L, 2, 15L, 3, 15L),
                                "the committed offsets");
                    });
            script.check(
                    "delete",
                    () -> {
                        admin.deleteConsumerGroups(List.of(group)).all().get();
                        expect(listed(admin), false, "the group is still listed");
                    });
        }
        script.check("static", this::staticMembers);
    }

    private KafkaConsumer<byte[], byte[]> staticMember(String name) {
        return member(
                Map.of(
                        "group.id", group + "-static",
                        "auto.offset.reset", "latest",
                        "group.instance.id", name));
    }

    private void staticMembers() throws Exception {
        List<String> changes = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> one = staticMember("one")) {
            one.subscribe(List.of(group), new Noticing(changes));
            Set<Integer> before;
            try (KafkaConsumer<byte[], byte[]> other = staticMember("other")) {
                int half = PARTITIONS / 2;
                pollUntil(
                        () -> assigned(one).size() == half && assigned(other).size() == half,
                        List.of(one, other));
                before = assigned(other);
            }
            changes.clear();
            try (KafkaConsumer<byte[], byte[]> other = staticMember("other")) {
                pollUntil(() -> assigned(other).equals(before), List.of(one, other));
            }
            expect(changes, List.of(), "what the other noticed");
        }
    }

    /** Takes down what comes and goes. */
    private record Noticing(List<String> changes) implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
            changes.add("revoked " + revoked);
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
            changes.add("assigned " + assigned);
        }
    }

    private void together(
            Admin admin,
            KafkaConsumer<byte[], byte[]> first,
            KafkaConsumer<byte[], byte[]> second) {
        List<KafkaConsumer<byte[], byte[]>> members = List.of(first, second);
        script.check(
                "share",
                () -> {
                    pollUntil(
                            () -> {
                                Set<Integer> all = new TreeSet<>(assigned(first));
                                all.addAll(assigned(second));
                                int sum = assigned(first).size() + assigned(second).size();
                                return all.size() == PARTITIONS
                                        && sum == PARTITIONS
                                        && !assigned(first).isEmpty()
                                        && !assigned(second).isEmpty();
                            },
                            members);
                    writeNumbers(0, 40);
                    expect(pollNumbers(40, members), numbers(0, 40), "the numbers of the records");
                });
        script.check(
                "commit",
                () -> {
                    first.commitSync();
                    second.commitSync();
                    expect(
                            committed(admin),
                            Map.of(0, 10L, 1, 10L, 2, 10L, 3, 10L),
                            "the committed offsets");
                });
        script.check(
                "describe",
                () -> {
                    expect(listed(admin), true, "the group is listed");
                    ConsumerGroupDescription description =
                            admin.describeConsumerGroups(List.of(group)).all().get().get(group);
                    expect(description.members().size(), 2, "the number of members");
                    expect(description.groupState(), GroupState.STABLE, "the state");
                });
    }

    private static Set<Integer> assigned(KafkaConsumer<byte[], byte[]> consumer) {
        Set<Integer> partitions = new TreeSet<>();
        consumer.assignment().forEach(place -> partitions.add(place.partition()));
        return partitions;
    }

    private void writeNumbers(int first, int end) throws Exception {
        List<Cluster.Sent> sent = new ArrayList<>();
        for (int i = first; i < end; i++) {
            sent.add(new Cluster.Sent(i % PARTITIONS, Row.of(null, "" + i)));
        }
        Cluster.produce(script, group, sent);
    }

    private static List<Integer> numbers(int first, int end) {
        return IntStream.range(first, end).boxed().toList();
    }

    /** Polls the members, which find their places meanwhile; there is nothing to read yet. */
    private static void pollUntil(
            Callable<Boolean> condition, Collection<KafkaConsumer<byte[], byte[]>> members)
            throws Exception {
        eventually(
                () -> {
                    for (KafkaConsumer<byte[], byte[]> member : members) {
                        expect(
                                member.poll(Duration.ofMillis(50)).count(),
                                0,
                                "records while the group is forming");
                    }
                    return condition.call();
                },
                "the members have their partitions; now "
                        + members.stream().map(GroupsScenario::assigned).toList());
    }

    private static List<Integer> pollNumbers(
            int count, Collection<KafkaConsumer<byte[], byte[]>> members) {
        List<Integer> numbers = new ArrayList<>();
        long deadline = System.nanoTime() + Script.GIVE_UP.toNanos();
        while (numbers.size() < count && System.nanoTime() < deadline) {
            for (KafkaConsumer<byte[], byte[]> member : members) {
                for (ConsumerRecord<byte[], byte[]> record : member.poll(Duration.ofMillis(50))) {
                    numbers.add(Integer.parseInt(Row.of(record).text()));
                }
            }
        }
        return numbers.stream().sorted().toList();
    }

    private Map<Integer, Long> committed(Admin admin) throws Exception {
        Map<Integer, Long> offsets = new TreeMap<>();
        admin.listConsumerGroupOffsets(group)
                .partitionsToOffsetAndMetadata()
                .get()
                .forEach((place, offset) -> offsets.put(place.partition(), offset.offset()));
        return offsets;
    }

    private boolean listed(Admin admin) throws Exception {
        return admin.listGroups().all().get().stream()
                .map(GroupListing::groupId)
                .anyMatch(group::equals);
    }
}

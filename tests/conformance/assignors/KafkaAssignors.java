import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Says what Kafka's own assignors decide, and what their members tell.
 *
 * <p>Reads one JSON object. {@code groups}: each with an assignor, the topics' partition counts, the
 * racks of their replicas, and
 * members with an id, an instance id and the bytes of their subscription in hex; the answer is a map
 * of the members' partitions. {@code members}: each with an assignor, topics, and what it was
 * assigned in which generation; the answer is the subscription that it joins with, in hex.
 */
public final class KafkaAssignors {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Node NODE = new Node(0, "localhost", 9092);

    public static void main(String[] arguments) throws Exception {
        JsonNode asked = JSON.readTree(System.in);
        List<Object> groups = new ArrayList<>();
        for (JsonNode group : asked.get("groups")) {
            groups.add(assign(group));
        }
        List<Object> members = new ArrayList<>();
        for (JsonNode member : asked.get("members")) {
            members.add(subscription(member));
        }
        Map<String, Object> answers = new LinkedHashMap<>();
        answers.put("groups", groups);
        answers.put("members", members);
        System.out.println(JSON.writeValueAsString(answers));
    }

    private static ConsumerPartitionAssignor assignor(String name) {
        return switch (name) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            case "cooperative-sticky" -> new CooperativeStickyAssignor();
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static Map<String, List<List<Object>>> assign(JsonNode group) {
        List<PartitionInfo> partitions = new ArrayList<>();
        group.get("counts").fields().forEachRemaining(entry -> {
            JsonNode racks = group.get("racks").path(entry.getKey());
            for (int number = 0; number < entry.getValue().asInt(); number++) {
                Node[] nodes = racks.has(number) ? nodes(racks.get(number)) : new Node[] {NODE};
                partitions.add(new PartitionInfo(entry.getKey(), number, NODE, nodes, nodes));
            }
        });
        Cluster cluster = new Cluster("cluster", List.of(NODE), partitions, Set.of(), Set.of());
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : group.get("members")) {
            byte[] told = HexFormat.of().parseHex(member.get("subscription").asText());
            Subscription subscription = ConsumerProtocol.deserializeSubscription(ByteBuffer.wrap(told));
            if (!member.get("instance").isNull()) {
                subscription.setGroupInstanceId(Optional.of(member.get("instance").asText()));
            }
            subscriptions.put(member.get("id").asText(), subscription);
        }
        Map<String, List<List<Object>>> shared = new TreeMap<>();
        assignor(group.get("assignor").asText())
            .assign(cluster, new GroupSubscription(subscriptions))
            .groupAssignment()
            .forEach((id, assignment) -> {
                List<List<Object>> told = new ArrayList<>();
                for (TopicPartition partition : assignment.partitions()) {
                    told.add(List.of(partition.topic(), partition.partition()));
                }
                shared.put(id, told);
            });
        return shared;
    }

    private static Node[] nodes(JsonNode racks) {
        List<Node> nodes = new ArrayList<>();
        for (JsonNode rack : racks) {
            nodes.add(new Node(nodes.size() + 1, "localhost", 9092, rack.asText()));
        }
        return nodes.toArray(new Node[0]);
    }

    private static String subscription(JsonNode member) {
        ConsumerPartitionAssignor assignor = assignor(member.get("assignor").asText());
        List<TopicPartition> partitions = new ArrayList<>();
        for (JsonNode each : member.get("partitions")) {
            partitions.add(new TopicPartition(each.get(0).asText(), each.get(1).asInt()));
        }
        int generation = member.get("generation").asInt();
        if (generation >= 0) {
            assignor.onAssignment(
                new Assignment(partitions, null),
                new ConsumerGroupMetadata("g", generation, "me", Optional.empty()));
        }
        List<String> topics = new ArrayList<>();
        member.get("topics").forEach(topic -> topics.add(topic.asText()));
        ByteBuffer userData = assignor.subscriptionUserData(Set.copyOf(topics));
        ByteBuffer told = ConsumerProtocol.serializeSubscription(
            new Subscription(topics, userData, partitions, generation, Optional.empty()));
        byte[] bytes = new byte[told.remaining()];
        told.get(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Says what Kafka's assignor of share groups decides.
 *
 * <p>Reads a JSON list of groups: the topics' partition counts, and members, each with its topics and
 * with what it had by topic. Topics are numbers. The answer has each member's partitions by topic.
 */
public final class KafkaSimpleAssignor {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        List<Object> answers = new ArrayList<>();
        for (JsonNode group : JSON.readTree(System.in)) {
            answers.add(assign(group));
        }
        System.out.println(JSON.writeValueAsString(answers));
    }

    private static Uuid topicId(String name) {
        return new Uuid(7, Long.parseLong(name));
    }

    private static Map<String, Map<String, Set<Integer>>> assign(JsonNode group) {
        Map<Uuid, Integer> counts = new HashMap<>();
        group.get("counts").fields().forEachRemaining(
            entry -> counts.put(topicId(entry.getKey()), entry.getValue().asInt()));
        SubscribedTopicDescriber topics = new SubscribedTopicDescriber() {
            @Override
            public int numPartitions(Uuid topicId) {
                return counts.getOrDefault(topicId, -1);
            }

            @Override
            public Set<String> racksForPartition(Uuid topicId, int partition) {
                return Set.of();
            }
        };
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new LinkedHashMap<>();
        Set<Set<Uuid>> subscriptions = new HashSet<>();
        group.get("members").fields().forEachRemaining(entry -> {
            Set<Uuid> wanted = new HashSet<>();
            entry.getValue().get("topics").forEach(topic -> wanted.add(topicId(topic.asText())));
            Map<Uuid, Set<Integer>> had = new HashMap<>();
            entry.getValue().get("had").fields().forEachRemaining(topic -> {
                Set<Integer> numbers = new HashSet<>();
                topic.getValue().forEach(number -> numbers.add(number.asInt()));
                had.put(topicId(topic.getKey()), numbers);
            });
            subscriptions.add(wanted);
            members.put(entry.getKey(), new MemberSubscriptionAndAssignmentImpl(
                Optional.empty(), Optional.empty(), wanted, new Assignment(had)));
        });
        SubscriptionType type = subscriptions.size() > 1
            ? SubscriptionType.HETEROGENEOUS
            : SubscriptionType.HOMOGENEOUS;
        Map<String, Map<String, Set<Integer>>> told = new TreeMap<>();
        new SimpleAssignor()
            .assign(new GroupSpecImpl(members, type, Map.of()), topics)
            .members()
            .forEach((id, assignment) -> {
                Map<String, Set<Integer>> byTopic = new TreeMap<>();
                assignment.partitions().forEach((topicId, numbers) -> {
                    if (!numbers.isEmpty()) {
                        byTopic.put(
                            Long.toString(topicId.getLeastSignificantBits()), new TreeSet<>(numbers));
                    }
                });
                told.put(id, byTopic);
            });
        return told;
    }
}

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.QuotaConfig;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.storage.internals.log.LogConfig;

/**
 * Says what Apache Kafka knows about its settings, and which values it would accept.
 *
 * <p>Reads one JSON object: {@code probes}, each {@code [table, name, value]}, and {@code files}, the
 * texts of properties files. Writes one with the settings of both tables, an answer for every probe
 * (the value as Kafka renders it, or null when Kafka refuses it), and what is in every file (null
 * when Java cannot read it).
 */
public final class KafkaSettings {
    private static final List<String> DYNAMIC_ONLY =
            List.of("leader.replication.throttled.rate", "follower.replication.throttled.rate");
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        Map<String, ConfigDef> tables = new LinkedHashMap<>();
        ConfigDef broker = new ConfigDef(kafka.server.KafkaConfig.configDef());
        for (String dynamicOnly : DYNAMIC_ONLY) {
            broker.define(QuotaConfig.brokerQuotaConfigs().configKeys().get(dynamicOnly));
        }
        tables.put("broker", broker);
        tables.put("topic", LogConfig.configDefCopy());
        tables.put("group", GroupConfig.CONFIG_DEF);

        Map<String, Object> facts = new LinkedHashMap<>();
        tables.forEach((table, definition) -> facts.put(table, settings(table, definition)));
        JsonNode asked = JSON.readTree(System.in);
        List<Map<String, String>> properties = new ArrayList<>();
        for (JsonNode file : asked.get("files")) {
            properties.add(properties(file.asText()));
        }
        facts.put("files", properties);
        List<List<String>> answers = new ArrayList<>();
        for (JsonNode probe : asked.get("probes")) {
            ConfigDef definition = tables.get(probe.get(0).asText());
            answers.add(answer(definition.configKeys().get(probe.get(1).asText()), probe.get(2).asText()));
        }
        facts.put("answers", answers);
        System.out.println(JSON.writeValueAsString(facts));
    }

    private static Map<String, String> properties(String text) throws IOException {
        Properties found = new Properties();
        try {
            found.load(new StringReader(text));
        } catch (IllegalArgumentException refused) {
            return null;
        }
        Map<String, String> sorted = new TreeMap<>();
        found.stringPropertyNames().forEach(name -> sorted.put(name, found.getProperty(name)));
        return sorted;
    }

    private static Map<String, Object> settings(String table, ConfigDef definition) {
        Map<String, String> scopes = DynamicBrokerConfig.dynamicConfigUpdateModes();
        Map<String, Object> found = new TreeMap<>();
        for (ConfigDef.ConfigKey key : definition.configKeys().values()) {
            Map<String, Object> facts = new LinkedHashMap<>();
            facts.put("type", key.type.name().toLowerCase(Locale.ROOT));
            facts.put("required", !key.hasDefault());
            facts.put("default", key.hasDefault() ? ConfigDef.convertToString(key.defaultValue, key.type) : null);
            facts.put("internal", key.internalConfig);
            facts.put("validator", key.validator == null ? "" : key.validator.toString());
            if (table.equals("broker")) {
                facts.put("scope", scopes.getOrDefault(key.name, "read-only"));
                facts.put("synonyms", DynamicBrokerConfig.brokerConfigSynonyms(key.name, false));
            } else if (table.equals("group")) {
                facts.put("synonyms", GroupConfig.brokerSynonym(key.name).map(name -> List.of(List.of(name, 1L))).orElse(List.of()));
            } else {
                facts.put("synonyms", synonyms(key.name));
            }
            found.put(key.name, facts);
        }
        return found;
    }

    /** Name and what the name's value is multiplied by, for each setting that a topic's one falls back on. */
    private static List<List<Object>> synonyms(String name) {
        List<List<Object>> found = new ArrayList<>();
        for (ConfigSynonym synonym : ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.getOrDefault(name, List.of())) {
            boolean converts = !synonym.converter().apply("7").equals("7");
            found.add(List.of(synonym.name(), converts ? Long.parseLong(synonym.converter().apply("7")) / 7 : 1L));
        }
        return found;
    }

    private static List<String> answer(ConfigDef.ConfigKey key, String value) {
        try {
            Object parsed = ConfigDef.parseType(key.name, value, key.type);
            if (key.validator != null) {
                key.validator.ensureValid(key.name, parsed);
            }
            return List.of(String.valueOf(ConfigDef.convertToString(parsed, key.type)));
        } catch (ConfigException refused) {
            return null;
        }
    }
}

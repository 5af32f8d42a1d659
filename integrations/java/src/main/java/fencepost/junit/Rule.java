package fencepost.junit;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.LinkedHashMap;
import java.util.Map;

/** A fault rule: which requests, and what happens to them. Its fields are those of the control port. */
public final class Rule {
    private final Map<String, Object> fields = new LinkedHashMap<>();

    /** Makes a rule with an act, such as "drop-answer". */
    public Rule(String name, String act) {
        this(name, Map.of("type", act));
    }

    /** Makes a rule with an act that has fields, such as {"type": "delay", "ms": 10}. */
    public Rule(String name, Map<String, Object> act) {
        fields.put("name", name);
        fields.put("act", act);
    }

    /** Limits the rule to some requests, such as {"api": "EndTxn"}. */
    public Rule match(Map<String, Object> match) {
        return with("match", match);
    }

    /** Lets the rule fire at most so often. */
    public Rule times(int times) {
        return with("times", times);
    }

    /** Sets any other field: skip, every, after, while, may_stay_unfired... */
    public Rule with(String field, Object value) {
        fields.put(field, value);
        return this;
    }

    @JsonValue
    Map<String, Object> fields() {
        return fields;
    }
}

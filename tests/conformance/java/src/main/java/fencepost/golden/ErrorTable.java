package fencepost.golden;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.kafka.common.protocol.Errors;

/** Every error code with its exception and all that the exception extends and implements. */
final class ErrorTable {

    private ErrorTable() {
    }

    static JsonNode asJson() {
        ArrayNode table = JsonNodeFactory.instance.arrayNode();
        for (Errors error : Errors.values()) {
            ObjectNode row = table.addObject();
            row.put("code", error.code());
            row.put("name", error.name());
            Throwable exception = error.exception();
            ArrayNode ancestors = row.putNull("exception").putArray("ancestors");
            if (exception != null) {
                row.put("exception", exception.getClass().getSimpleName());
                ancestorsOf(exception.getClass()).forEach(ancestors::add);
            }
        }
        return table;
    }

    /** Simple names, nearest superclass first, each followed by the interfaces it adds. */
    private static Set<String> ancestorsOf(Class<?> exception) {
        Set<String> names = new LinkedHashSet<>();
        addInterfaces(exception, names);
        for (Class<?> up = exception.getSuperclass(); up != Object.class; up = up.getSuperclass()) {
            names.add(up.getSimpleName());
            addInterfaces(up, names);
        }
        return names;
    }

    private static void addInterfaces(Class<?> type, Set<String> names) {
        for (Class<?> face : type.getInterfaces()) {
            names.add(face.getSimpleName());
            addInterfaces(face, names);
        }
    }
}

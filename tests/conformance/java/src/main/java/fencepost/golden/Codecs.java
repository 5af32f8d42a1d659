package fencepost.golden;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BinaryNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.record.internal.BaseRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;

/** Finds Kafka's generated message classes by the name of their schema and calls them. */
final class Codecs {

    private static final String CONVERTER = "JsonConverter";

    /** Schema name to class name, of every message in the Kafka jars on the class path. */
    private final Map<String, String> classNames = new TreeMap<>();
    private final Map<String, Codec> cache = new HashMap<>();

    Codecs() {
        for (String jar : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (new File(jar).getName().startsWith("kafka-")) {
                addMessagesOf(jar);
            }
        }
        if (classNames.isEmpty()) {
            throw new IllegalStateException("no kafka-*.jar with messages on the class path");
        }
    }

    Codec named(String name) {
        Codec codec = cache.get(name);
        if (codec == null) {
            String className = classNames.get(name);
            if (className == null) {
                throw new IllegalArgumentException("no message is called " + name);
            }
            codec = new Codec(name, className);
            cache.put(name, codec);
        }
        return codec;
    }

    JsonNode asJson() {
        ArrayNode list = JsonNodeFactory.instance.arrayNode();
        classNames.forEach((name, className) -> {
            Message message = named(name).newMessage();
            list.addObject()
                .put("name", name)
                .put("class", className)
                .put("lowest", message.lowestSupportedVersion())
                .put("highest", message.highestSupportedVersion());
        });
        return list;
    }

    private void addMessagesOf(String jar) {
        try (ZipFile zip = new ZipFile(jar)) {
            zip.stream().map(ZipEntry::getName)
                .filter(entry -> entry.endsWith(CONVERTER + ".class") && !entry.contains("$"))
                .forEach(entry -> {
                    int end = entry.length() - CONVERTER.length() - ".class".length();
                    String className = entry.substring(0, end).replace('/', '.');
                    String clash = classNames.put(schemaName(className), className);
                    if (clash != null) {
                        throw new IllegalStateException(
                            "one schema name, two classes: " + clash + ", " + className);
                    }
                });
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list " + jar, e);
        }
    }

    /** Kafka's generator appends Data to a request, a response and a header, and to no other. */
    private static String schemaName(String className) {
        String simple = className.substring(className.lastIndexOf('.') + 1);
        return simple.replaceFirst("(Request|Response|Header)Data$", "$1");
    }

    record Decoded(byte[] encodedAgain, JsonNode json) {
    }

    /** One message class and its converter. */
    static final class Codec {

        private final String name;
        private final MethodHandle create;
        private final MethodHandle fromJson;
        private final MethodHandle toJson;
        private final boolean holdsRecords;
        private final short lowest;
        private final short highest;

        Codec(String name, String className) {
            this.name = name;
            try {
                Class<?> type = Class.forName(className);
                Class<?> converter = Class.forName(className + CONVERTER);
                MethodHandles.Lookup lookup = MethodHandles.publicLookup();
                create = lookup.findConstructor(type, MethodType.methodType(void.class))
                    .asType(MethodType.methodType(Message.class));
                MethodType read = MethodType.methodType(type, JsonNode.class, short.class);
                fromJson = lookup.findStatic(converter, "read", read)
                    .asType(read.changeReturnType(Message.class));
                MethodType write =
                    MethodType.methodType(JsonNode.class, type, short.class, boolean.class);
                toJson = lookup.findStatic(converter, "write", write)
                    .asType(write.changeParameterType(0, Message.class));
                holdsRecords = holdsRecords(type);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("cannot use " + className, e);
            }
            Message message = newMessage();
            lowest = message.lowestSupportedVersion();
            highest = message.highestSupportedVersion();
        }

        Message newMessage() {
            try {
                return (Message) create.invokeExact();
            } catch (Throwable e) {
                throw rethrown(e);
            }
        }

        byte[] encode(short version, JsonNode json) {
            check(version);
            try {
                return bytes((Message) fromJson.invokeExact(json, version), version);
            } catch (Throwable e) {
                throw rethrown(e);
            }
        }

        Decoded decode(short version, byte[] encoded) {
            check(version);
            Message message = newMessage();
            ByteBufferAccessor input = new ByteBufferAccessor(ByteBuffer.wrap(encoded));
            message.read(input, version);
            if (input.remaining() != 0) {
                throw new IllegalArgumentException(
                    name + " version " + version + " ends after "
                        + (encoded.length - input.remaining()) + " of " + encoded.length
                        + " bytes");
            }
            JsonNode json;
            try {
                json = (JsonNode) toJson.invokeExact(message, version, true);
            } catch (Throwable e) {
                throw rethrown(e);
            }
            if (holdsRecords) {
                putRecords(message, json);
            }
            return new Decoded(bytes(message, version), json);
        }

        private void check(short version) {
            if (version < lowest || version > highest) {
                throw new IllegalArgumentException(
                    name + " has versions " + lowest + "-" + highest + ", not " + version);
            }
        }

        private static byte[] bytes(Message message, short version) {
            ObjectSerializationCache sizes = new ObjectSerializationCache();
            ByteBuffer buffer = ByteBuffer.allocate(message.size(sizes, version));
            message.write(new ByteBufferAccessor(buffer), sizes, version);
            if (buffer.hasRemaining()) {
                throw new IllegalStateException(
                    "wrote " + buffer.remaining() + " bytes fewer than announced");
            }
            return buffer.array();
        }

        /** The structs of a message are classes nested in its own. */
        private static boolean holdsRecords(Class<?> type) {
            return Stream.concat(Stream.of(type), Stream.of(type.getDeclaredClasses()))
                .flatMap(struct -> Stream.of(struct.getDeclaredFields()))
                .anyMatch(field -> BaseRecords.class.isAssignableFrom(field.getType()));
        }

        /** The converters leave the bytes of record batches out (KIP-673); they belong there. */
        private static void putRecords(Message message, JsonNode json) {
            ObjectNode object = (ObjectNode) json;
            for (String field : object.properties().stream().map(Map.Entry::getKey).toList()) {
                Object value;
                try {
                    value = message.getClass().getMethod(field).invoke(message);
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(message.getClass() + " has no " + field, e);
                }
                if (value instanceof MemoryRecords records) {
                    byte[] batches = new byte[records.sizeInBytes()];
                    records.buffer().duplicate().get(batches);
                    object.set(field, new BinaryNode(batches));
                } else if (value instanceof Message nested) {
                    putRecords(nested, object.get(field));
                } else if (value instanceof Iterable<?> elements) {
                    int index = 0;
                    for (Object element : elements) {
                        if (element instanceof Message nested) {
                            putRecords(nested, object.get(field).get(index));
                        }
                        index++;
                    }
                }
            }
        }

        private static RuntimeException rethrown(Throwable failure) {
            if (failure instanceof Error error) {
                throw error;
            }
            if (failure instanceof RuntimeException exception) {
                return exception;
            }
            return new IllegalStateException(failure);
        }
    }
}

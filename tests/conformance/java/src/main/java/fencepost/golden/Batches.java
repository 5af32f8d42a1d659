package fencepost.golden;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BinaryNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.Set;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;

/** Record batches of format 2, built and read by Kafka's own classes. */
final class Batches {

    private static final int FIRST_BUFFER = 1024;
    private static final Set<String> BATCH_FIELDS = Set.of(
        "codec", "baseOffset", "timestampType", "logAppendTime", "producerId", "producerEpoch",
        "baseSequence", "transactional", "partitionLeaderEpoch", "records");
    private static final Set<String> RECORD_FIELDS =
        Set.of("offset", "timestamp", "key", "value", "headers");

    private Batches() {
    }

    /**
     * One batch from {"codec": "none|gzip|snappy|lz4|zstd", "baseOffset", "timestampType":
     * "CreateTime|LogAppendTime", "logAppendTime", "producerId", "producerEpoch", "baseSequence",
     * "transactional", "partitionLeaderEpoch", "records": [{"offset", "timestamp", "key", "value",
     * "headers": [[key, value]]}]}. Whatever is absent has Kafka's value for "none"; a record's
     * offset follows its predecessor's.
     */
    static byte[] build(JsonNode json) {
        refuseUnknownFields(json, BATCH_FIELDS);
        long baseOffset = json.path("baseOffset").asLong(0);
        MemoryRecordsBuilder builder = MemoryRecords.builder(
            ByteBuffer.allocate(FIRST_BUFFER),
            RecordBatch.MAGIC_VALUE_V2,
            Compression.of(json.path("codec").asText("none")).build(),
            TimestampType.forName(json.path("timestampType").asText("CreateTime")),
            baseOffset,
            json.path("logAppendTime").asLong(RecordBatch.NO_TIMESTAMP),
            json.path("producerId").asLong(RecordBatch.NO_PRODUCER_ID),
            (short) json.path("producerEpoch").asInt(RecordBatch.NO_PRODUCER_EPOCH),
            json.path("baseSequence").asInt(RecordBatch.NO_SEQUENCE),
            json.path("transactional").asBoolean(false),
            json.path("partitionLeaderEpoch").asInt(RecordBatch.NO_PARTITION_LEADER_EPOCH));
        long offset = baseOffset;
        for (JsonNode record : json.path("records")) {
            refuseUnknownFields(record, RECORD_FIELDS);
            offset = record.path("offset").asLong(offset);
            builder.appendWithOffset(
                offset,
                record.path("timestamp").asLong(0),
                binary(record.path("key")),
                binary(record.path("value")),
                headers(record.path("headers")));
            offset++;
        }
        return contents(builder.build());
    }

    /**
     * One batch as JSON: its header, "isValid" (size and checksum), and its records as
     * {@link #build} takes them, each with its sequence, and in a control batch with "controlType".
     * "recordsError" stands beside the records that could be read when one could not.
     */
    static JsonNode read(byte[] encoded) {
        Iterator<MutableRecordBatch> batches =
            MemoryRecords.readableRecords(ByteBuffer.wrap(encoded)).batches().iterator();
        if (!batches.hasNext()) {
            throw new IllegalArgumentException("no whole batch in " + encoded.length + " bytes");
        }
        RecordBatch batch = batches.next();
        if (batch.sizeInBytes() != encoded.length) {
            throw new IllegalArgumentException(
                "the batch ends after " + batch.sizeInBytes() + " of " + encoded.length
                    + " bytes");
        }
        ObjectNode json = JsonNodeFactory.instance.objectNode()
            .put("baseOffset", batch.baseOffset())
            .put("lastOffset", batch.lastOffset())
            .put("sizeInBytes", batch.sizeInBytes())
            .put("partitionLeaderEpoch", batch.partitionLeaderEpoch())
            .put("magic", batch.magic())
            .put("checksum", batch.checksum())
            .put("isValid", batch.isValid())
            .put("codec", batch.compressionType().name)
            .put("timestampType", batch.timestampType().name)
            .put("transactional", batch.isTransactional())
            .put("control", batch.isControlBatch())
            .put("maxTimestamp", batch.maxTimestamp())
            .put("producerId", batch.producerId())
            .put("producerEpoch", batch.producerEpoch())
            .put("baseSequence", batch.baseSequence())
            .put("lastSequence", batch.lastSequence())
            .put("count", batch.countOrNull());
        batch.deleteHorizonMs().ifPresentOrElse(
            horizon -> json.put("deleteHorizonMs", horizon), () -> json.putNull("deleteHorizonMs"));
        if (batch instanceof DefaultRecordBatch current) {
            json.put("baseTimestamp", current.baseTimestamp());
        }
        ArrayNode records = json.putArray("records");
        try {
            for (Record record : batch) {
                addRecord(records, record, batch.isControlBatch());
            }
        } catch (RuntimeException e) {
            json.put("recordsError", String.valueOf(e.getMessage()));
        }
        return json;
    }

    /**
     * The batch that ends a transaction, from {"offset", "timestamp", "leaderEpoch", "producerId",
     * "producerEpoch", "commit", "coordinatorEpoch"}.
     */
    static byte[] marker(JsonNode json) {
        ControlRecordType type = json.required("commit").booleanValue()
            ? ControlRecordType.COMMIT : ControlRecordType.ABORT;
        return contents(MemoryRecords.withEndTransactionMarker(
            json.required("offset").longValue(),
            json.required("timestamp").longValue(),
            json.required("leaderEpoch").intValue(),
            json.required("producerId").longValue(),
            json.required("producerEpoch").shortValue(),
            new EndTransactionMarker(type, json.required("coordinatorEpoch").intValue())));
    }

    private static void addRecord(ArrayNode records, Record record, boolean control) {
        ObjectNode json = records.addObject()
            .put("offset", record.offset())
            .put("timestamp", record.timestamp())
            .put("sequence", record.sequence());
        json.set("key", node(record.key()));
        json.set("value", node(record.value()));
        ArrayNode headers = json.putArray("headers");
        for (Header header : record.headers()) {
            byte[] value = header.value();
            headers.addArray()
                .add(header.key())
                .add(value == null ? NullNode.instance : new BinaryNode(value));
        }
        if (control) {
            json.put("controlType", ControlRecordType.parse(record.key()).name());
        }
    }

    private static Header[] headers(JsonNode json) {
        Header[] headers = new Header[json.size()];
        for (int i = 0; i < headers.length; i++) {
            JsonNode header = json.get(i);
            headers[i] = new RecordHeader(header.get(0).textValue(), binary(header.get(1)));
        }
        return headers;
    }

    /** Without this a misspelled field would quietly mean its default. */
    private static void refuseUnknownFields(JsonNode json, Set<String> known) {
        json.properties().forEach(field -> {
            if (!known.contains(field.getKey())) {
                throw new IllegalArgumentException("no such field: " + field.getKey());
            }
        });
    }

    private static byte[] binary(JsonNode json) {
        if (json.isNull() || json.isMissingNode()) {
            return null;
        }
        if (!json.isTextual()) {
            throw new IllegalArgumentException("not base64: " + json);
        }
        try {
            return json.binaryValue();
        } catch (IOException e) {
            throw new UncheckedIOException("not base64: " + json, e);
        }
    }

    private static JsonNode node(ByteBuffer buffer) {
        if (buffer == null) {
            return NullNode.instance;
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return new BinaryNode(bytes);
    }

    private static byte[] contents(MemoryRecords records) {
        byte[] bytes = new byte[records.sizeInBytes()];
        records.buffer().duplicate().get(bytes);
        return bytes;
    }
}

package fencepost.clients;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A record as it is written, or as it was read; its bytes in hexadecimal, so that it compares and
 * prints.
 */
record Row(String key, String value, List<String> headers, long timestamp) {
    static final int COUNT = 300;
    static final int PARTITIONS = 3;
    static final long FIRST_TIMESTAMP = 1_600_000_000_000L;

    /** Record number i of those that every script writes and expects. */
    static Row number(int i) {
        byte[] key = i % 6 == 4 ? null : utf8("key-" + i);
        byte[] value = null;
        if (i % 6 != 5) {
            byte[] head = utf8("value-" + i + "-");
            value = java.util.Arrays.copyOf(head, head.length + i % 200);
            for (int j = 0; j < i % 200; j++) {
                value[head.length + j] = (byte) (31 * i + 7 * j);
            }
        }
        List<String> headers =
                switch (i % 3) {
                    case 1 -> List.of(header("seq", utf8("" + i)), header("seq", utf8("again")));
                    case 2 ->
                            List.of(
                                    header(
                                            "binary",
                                            new byte[] {0, (byte) 255, 10, (byte) 195, 40}),
                                    header("empty", new byte[0]));
                    default -> List.of();
                };
        return new Row(hex(key), hex(value), headers, FIRST_TIMESTAMP + 1000L * i);
    }

    static Row of(String key, String value) {
        return of(key == null ? null : utf8(key), value == null ? null : utf8(value), List.of());
    }

    static Row of(byte[] key, byte[] value, List<String> headers) {
        return new Row(hex(key), hex(value), headers, FIRST_TIMESTAMP);
    }

    static Row of(ConsumerRecord<byte[], byte[]> record) {
        List<String> headers = new ArrayList<>();
        record.headers().forEach(header -> headers.add(header(header.key(), header.value())));
        return new Row(hex(record.key()), hex(record.value()), headers, record.timestamp());
    }

    static String header(String name, byte[] value) {
        return name + "=" + hex(value);
    }

    Row at(long timestamp) {
        return new Row(key, value, headers, timestamp);
    }

    /** The value as text, for the scenarios that write words and numbers. */
    String text() {
        return new String(bytes(value), StandardCharsets.UTF_8);
    }

    ProducerRecord<byte[], byte[]> to(String topic, Integer partition) {
        List<Header> kafkaHeaders = new ArrayList<>();
        for (String header : headers) {
            int end = header.lastIndexOf('=');
            String hexValue = header.substring(end + 1);
            byte[] value = hexValue.equals("null") ? null : bytes(hexValue);
            kafkaHeaders.add(new RecordHeader(header.substring(0, end), value));
        }
        return new ProducerRecord<>(
                topic, partition, timestamp, bytes(key), bytes(value), kafkaHeaders);
    }

    /** The records of these numbers in the order of their partitions. */
    static Map<Integer, List<Row>> byPartition(int first, int end) {
        Map<Integer, List<Row>> rows = new TreeMap<>();
        for (int i = first; i < end; i++) {
            rows.computeIfAbsent(i % PARTITIONS, partition -> new ArrayList<>()).add(number(i));
        }
        return rows;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? null : HexFormat.of().formatHex(bytes);
    }

    private static byte[] bytes(String hex) {
        return hex == null ? null : HexFormat.of().parseHex(hex);
    }
}

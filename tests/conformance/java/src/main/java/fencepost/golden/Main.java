package fencepost.golden;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.util.HexFormat;

/**
 * Apache Kafka's own codecs behind a line protocol: the source of the golden bytes.
 *
 * <p>One question a line on standard input, one answer a line on standard output, in the same
 * order. The parts of a line are separated by tabs. JSON is compact and has no line break or tab of
 * its own; byte fields are base64.
 *
 * <pre>
 * question                     answer
 * encode NAME VERSION JSON     ok HEX         JSON as NAME's JsonConverter reads it
 * decode NAME VERSION HEX      ok HEX JSON    encoded again, and as the JsonConverter writes it,
 *                                             with record batches in full; bytes left over are an
 *                                             error
 * batch JSON                   ok HEX         one record batch; see {@link Batches#build}
 * readbatch HEX                ok JSON        one record batch; see {@link Batches#read}
 * marker JSON                  ok HEX         the end of a transaction; see {@link Batches#marker}
 * errors                       ok JSON        every error code; see {@link ErrorTable}
 * messages                     ok JSON        every NAME with its class and versions
 * anything that fails          error TEXT
 * </pre>
 *
 * <p>NAME is the name in the message's schema: ProduceRequest, RequestHeader, EndTxnMarker,
 * TransactionLogValue. An encode that names a field the converter does not ask for is no error: the
 * converter never looks at it.
 *
 * <p>Answers are flushed when no further question waits, so that a caller may ask one by one or
 * send many ahead. One thread does all: who sends many ahead must read answers meanwhile, or the
 * two pipes fill up.
 */
public final class Main {

    /** NaN and the infinities go both ways as bare words, as Python's json module has them. */
    private static final ObjectMapper JSON = JsonMapper.builder()
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
        .disable(JsonWriteFeature.WRITE_NAN_AS_STRINGS)
        .build();
    private static final HexFormat HEX = HexFormat.of();
    private static final int PIPE_BUFFER = 1 << 16;

    private final Codecs codecs = new Codecs();

    private Main() {
    }

    public static void main(String[] args) throws IOException {
        // Standard output belongs to the answers; what a library prints goes to the other one.
        System.setOut(System.err);
        new Main().serve(
            new BufferedReader(new InputStreamReader(System.in, UTF_8), PIPE_BUFFER),
            new BufferedWriter(
                new OutputStreamWriter(new FileOutputStream(FileDescriptor.out), UTF_8),
                PIPE_BUFFER));
    }

    private void serve(BufferedReader questions, Writer answers) throws IOException {
        String question;
        while ((question = questions.readLine()) != null) {
            String answer;
            try {
                answer = "ok\t" + answer(question.split("\t", -1));
            } catch (Exception | LinkageError | StackOverflowError | OutOfMemoryError e) {
                answer = "error\t" + describe(e);
            }
            answers.write(answer);
            answers.write('\n');
            if (!questions.ready()) {
                answers.flush();
            }
        }
        answers.flush();
    }

    private String answer(String[] parts) throws JsonProcessingException {
        return switch (parts[0]) {
            case "encode" -> {
                expect(parts, 4, "encode NAME VERSION JSON");
                Codecs.Codec codec = codecs.named(parts[1]);
                yield hex(codec.encode(version(parts[2]), JSON.readTree(parts[3])));
            }
            case "decode" -> {
                expect(parts, 4, "decode NAME VERSION HEX");
                Codecs.Codec codec = codecs.named(parts[1]);
                Codecs.Decoded decoded = codec.decode(version(parts[2]), HEX.parseHex(parts[3]));
                yield hex(decoded.encodedAgain()) + '\t' + text(decoded.json());
            }
            case "batch" -> {
                expect(parts, 2, "batch JSON");
                yield hex(Batches.build(JSON.readTree(parts[1])));
            }
            case "readbatch" -> {
                expect(parts, 2, "readbatch HEX");
                yield text(Batches.read(HEX.parseHex(parts[1])));
            }
            case "marker" -> {
                expect(parts, 2, "marker JSON");
                yield hex(Batches.marker(JSON.readTree(parts[1])));
            }
            case "errors" -> {
                expect(parts, 1, "errors");
                yield text(ErrorTable.asJson());
            }
            case "messages" -> {
                expect(parts, 1, "messages");
                yield text(codecs.asJson());
            }
            default -> throw new IllegalArgumentException("no such question: " + parts[0]);
        };
    }

    private static void expect(String[] parts, int count, String form) {
        if (parts.length != count) {
            throw new IllegalArgumentException(
                "expected " + form + ", got " + parts.length + " parts");
        }
    }

    private static short version(String text) {
        return Short.parseShort(text);
    }

    private static String hex(byte[] bytes) {
        return HEX.formatHex(bytes);
    }

    private static String text(JsonNode node) throws JsonProcessingException {
        return JSON.writeValueAsString(node);
    }

    /** The whole chain of causes on one line. */
    private static String describe(Throwable failure) {
        StringBuilder text = new StringBuilder();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            text.append(text.isEmpty() ? "" : "; caused by ");
            text.append(cause.getClass().getSimpleName());
            if (cause.getMessage() != null) {
                text.append(": ").append(cause.getMessage());
            }
        }
        return text.toString().replaceAll("[\\t\\r\\n]+", " ");
    }
}

package fencepost.junit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A JUnit 5 extension that runs a Fencepost broker. As a static field, one broker serves all tests of
 * a class, one test at a time; as an instance field, each test has its own.
 */
public final class Fencepost
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final List<String> arguments;
    private int users;
    private Process process;
    private JsonNode ready;

    /** Takes the arguments of `fencepost up`, such as "--topic", "orders:1". */
    public Fencepost(String... arguments) {
        this.arguments = List.of(arguments);
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        use();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        use();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        try {
            check();
        } finally {
            leave();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        leave();
    }

    private void use() {
        if (users++ == 0) {
            start();
        }
    }

    private void leave() {
        if (--users == 0) {
            stop();
        }
    }

    /** Starts the broker. The extension does so before the first test. */
    public void start() {
        String given = System.getenv("FENCEPOST");
        String command = given == null || given.isEmpty() ? "fencepost" : given;
        List<String> words = new ArrayList<>(List.of(
                command, "up", "--port", "0", "--control", "0", "--json", "--exit-with-parent"));
        words.addAll(arguments);
        try {
            process = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            BufferedReader lines = process.inputReader();
            String line = lines.readLine();
            if (line == null) {
                throw new IllegalStateException(command + " up was not ready: it ended with " + process.waitFor());
            }
            ready = JSON.readTree(line);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(error);
        }
    }

    /** Stops the broker and waits until its process has ended. */
    public void stop() {
        if (process == null) {
            return;
        }
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException error) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    /** Returns bootstrap.servers. */
    public String bootstrap() {
        return ready.get("bootstrap").asText();
    }

    /** Returns the broker's process id. */
    public long pid() {
        return ready.get("pid").asLong();
    }

    /** Adds a fault rule. */
    public JsonNode addFault(Rule rule) {
        return request("POST", "/v1/faults", rule);
    }

    /** Returns the fault rules, each with name, fired, matched, held and rule. */
    public List<JsonNode> faults() {
        return listed(request("GET", "/v1/faults", null).get("faults"));
    }

    /** Waits for up to 10 s until a rule has fired so often. */
    public JsonNode waitUntilFired(String name, int times) {
        return request("GET", "/v1/faults/" + quoted(name) + "/fired?times=" + times, null);
    }

    /** Removes a rule. What it holds goes on. */
    public void removeFault(String name) {
        request("DELETE", "/v1/faults/" + quoted(name), null);
    }

    /** Moves the broker's clock forward. */
    public void advanceClock(Duration by) {
        request("POST", "/v1/clock/advance", Map.of("ms", by.toMillis()));
    }

    /** Holds back markers by transactional_id, topic and partition, and returns an id. */
    public int holdMarkers(Map<String, Object> of) {
        return request("POST", "/v1/markers/holds", of).get("hold").asInt();
    }

    /** Lets markers be written. */
    public void releaseMarkers(int hold) {
        request("DELETE", "/v1/markers/holds/" + hold, null);
    }

    /** Creates a topic. */
    public void createTopic(String name, int partitions) {
        request("POST", "/v1/topics", Map.of("name", name, "partitions", partitions));
    }

    /** Returns the topics. */
    public List<JsonNode> topics() {
        return listed(request("GET", "/v1/topics", null).get("topics"));
    }

    /** Deletes a topic. */
    public void deleteTopic(String name) {
        request("DELETE", "/v1/topics/" + quoted(name), null);
    }

    /** Goes back to the state right after the start and removes all faults. Clients connect again. */
    public void reset() {
        request("POST", "/v1/reset", null);
    }

    /** Makes a scenario happen, such as "lost-commit-answer", and returns its timeline and facts. */
    public JsonNode runScenario(String name) {
        return request("POST", "/v1/scenarios/" + quoted(name) + "/run", null);
    }

    /** Removes all faults and holds, and fails if a rule has never fired. It is called after each test. */
    public void check() {
        List<String> unfired = new ArrayList<>();
        for (JsonNode fault : faults()) {
            if (fault.get("fired").asInt() == 0
                    && !fault.path("rule").path("may_stay_unfired").asBoolean()) {
                unfired.add(fault.get("name").asText());
            }
        }
        request("DELETE", "/v1/faults", null);
        for (JsonNode hold : request("GET", "/v1/markers/holds", null).get("holds")) {
            releaseMarkers(hold.get("hold").asInt());
        }
        if (!unfired.isEmpty()) {
            throw new AssertionError("fault rules never fired: " + String.join(", ", unfired));
        }
    }

    /** Sends any request to the control port and returns the answer's JSON. */
    public JsonNode request(String method, String path, Object body) {
        try {
            HttpRequest.BodyPublisher sent = body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body));
            HttpRequest.Builder request = HttpRequest.newBuilder(
                            URI.create("http://" + ready.get("control").asText() + path))
                    .timeout(Duration.ofSeconds(90))
                    .method(method, sent);
            if (body != null) {
                request.header("Content-Type", "application/json");
            }
            HttpResponse<String> answer =
                    http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() >= 400) {
                throw new IllegalStateException(
                        method + " " + path + ": " + answer.statusCode() + ": " + answer.body());
            }
            return JSON.readTree(answer.body());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(error);
        }
    }

    private static List<JsonNode> listed(JsonNode array) {
        List<JsonNode> found = new ArrayList<>();
        array.forEach(found::add);
        return found;
    }

    private static String quoted(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }
}

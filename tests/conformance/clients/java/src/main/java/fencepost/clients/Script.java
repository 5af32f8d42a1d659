package fencepost.clients;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;

/** One call of the program: where the broker is, and what its checks report. */
final class Script {
    /** How long a check waits for one thing before it gives it up. */
    static final Duration GIVE_UP = Duration.ofSeconds(30);

    final String bootstrap;
    private final String prefix;
    private String scenario = "";
    private boolean failed = false;

    Script(String bootstrap, String prefix) {
        this.bootstrap = bootstrap;
        this.prefix = prefix;
    }

    interface Check {
        void run() throws Exception;
    }

    /** Something else came than what was expected. */
    static final class Mismatch extends RuntimeException {
        private static final long serialVersionUID = 1;

        Mismatch(String message) {
            super(message);
        }
    }

    boolean failed() {
        return failed;
    }

    /** The name of a topic, a group or a transactional id. */
    String name(String suffix) {
        return prefix + "-" + suffix;
    }

    /** The settings of a client: the broker's address, and names and values in turn. */
    Map<String, Object> config(Object... namesAndValues) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrap);
        for (int i = 0; i < namesAndValues.length; i += 2) {
            config.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return config;
    }

    void scenario(String name, Main.Scenario scenario) {
        this.scenario = name;
        try {
            scenario.run(this);
        } catch (Exception | AssertionError error) {
            print("set-up", false, describe(error), "");
        }
    }

    /** Reports the check as ok, or as failed with the exception that ended it. */
    void check(String name, Check check) {
        long started = System.nanoTime();
        boolean ok = true;
        String detail = "";
        try {
            check.run();
        } catch (Exception | AssertionError error) {
            ok = false;
            detail = describe(error);
        }
        long millis = (System.nanoTime() - started) / 1_000_000;
        print(name, ok, detail, ", \"ms\": " + millis);
    }

    private void print(String check, boolean ok, String detail, String more) {
        failed |= !ok;
        System.out.printf(
                "{\"scenario\": %s, \"check\": %s, \"ok\": %s, \"detail\": %s%s}%n",
                json(scenario), json(check), ok, json(detail), more);
        System.out.flush();
    }

    static void expect(Object actual, Object wanted, String what) {
        if (!Objects.equals(actual, wanted)) {
            throw new Mismatch(what + ": " + cut(actual) + " instead of " + cut(wanted));
        }
    }

    /** Asks again until it is so; for what a broker makes true a moment after its answer. */
    static void eventually(Callable<Boolean> condition, String what) throws Exception {
        long deadline = System.nanoTime() + GIVE_UP.toNanos();
        while (!condition.call()) {
            if (System.nanoTime() > deadline) {
                throw new Mismatch("not within " + GIVE_UP + ": " + what);
            }
            Thread.sleep(20);
        }
    }

    /** Expects that the call ends with this exception, by itself or in an ExecutionException. */
    static void refused(Class<? extends Exception> wanted, Check call) throws Exception {
        try {
            call.run();
        } catch (Exception error) {
            Throwable cause = error instanceof ExecutionException ? error.getCause() : error;
            if (wanted.isInstance(cause)) {
                return;
            }
            throw new Mismatch(wanted.getSimpleName() + " expected: " + describe(error));
        }
        throw new Mismatch("no " + wanted.getSimpleName());
    }

    private static String describe(Throwable error) {
        if (error instanceof Mismatch) {
            return error.getMessage();
        }
        Throwable cause = error instanceof ExecutionException ? error.getCause() : error;
        String line = "";
        for (StackTraceElement element : error.getStackTrace()) {
            if (element.getClassName().startsWith("fencepost.")) {
                line = " (" + element.getFileName() + ":" + element.getLineNumber() + ")";
                break;
            }
        }
        return cause + line;
    }

    private static String cut(Object value) {
        String text = String.valueOf(value);
        return text.length() <= 500
                ? text
                : text.substring(0, 400) + "... (" + text.length() + " characters)";
    }

    private static String json(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}

package fencepost.clients;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** What the programs of tests/kill/matrix are called with, told and say: see words.py there. */
final class Words {
    private Words() {}

    /** What stands behind the first argument, as --NAME=VALUE. */
    static Map<String, String> options(String[] arguments) {
        Map<String, String> options = new HashMap<>();
        for (String argument : List.of(arguments).subList(1, arguments.length)) {
            String[] nameAndValue = argument.substring("--".length()).split("=", 2);
            options.put(nameAndValue[0], nameAndValue[1]);
        }
        return options;
    }

    static synchronized void say(Object... words) {
        System.out.println(
                Arrays.stream(words).map(String::valueOf).collect(Collectors.joining(" ")));
        System.out.flush();
    }

    /** Has each line of the input told, in a thread of its own; "leave" when it ends. */
    static void hear(Consumer<String> told) {
        Thread listener =
                new Thread(
                        () -> {
                            BufferedReader input =
                                    new BufferedReader(
                                            new InputStreamReader(
                                                    System.in, StandardCharsets.UTF_8));
                            try {
                                input.lines().forEach(line -> told.accept(line.strip()));
                            } catch (UncheckedIOException error) {
                                error.printStackTrace();
                            } finally {
                                told.accept("leave");
                            }
                        });
        listener.setDaemon(true);
        listener.start();
    }
}

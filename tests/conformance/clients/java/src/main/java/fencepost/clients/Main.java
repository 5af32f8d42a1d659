package fencepost.clients;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Kafka's own Java client against any broker: Main BOOTSTRAP SCENARIO... [--prefix=NAME]. What each
 * scenario asks for stands in scenarios.toml.
 */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        Map<String, Scenario> scenarios = new TreeMap<>();
        scenarios.put("admin", AdminScenario::run);
        scenarios.put("cluster", ClusterScenario::run);
        scenarios.put("produce", ProduceScenario::run);
        scenarios.put("consume", ConsumeScenario::run);
        scenarios.put("restart-before", RestartScenario::before);
        scenarios.put("restart-after", script -> RestartScenario.after(script, Row.COUNT));
        scenarios.put("kill-after", script -> RestartScenario.after(script, 2 * Row.COUNT));
        scenarios.put("groups", GroupsScenario::classic);
        scenarios.put("groups-consumer-protocol", GroupsScenario::consumerProtocol);
        scenarios.put("transactions", TransactionsScenario::run);

        String prefix = "java";
        List<String> words = new ArrayList<>();
        for (String argument : arguments) {
            if (argument.startsWith("--prefix=")) {
                prefix = argument.substring("--prefix=".length());
            } else {
                words.add(argument);
            }
        }
        List<String> chosen = words.subList(Math.min(1, words.size()), words.size());
        if (chosen.isEmpty() || !scenarios.keySet().containsAll(chosen)) {
            System.err.println(
                    "usage: BOOTSTRAP SCENARIO... [--prefix=NAME], out of " + scenarios.keySet());
            System.exit(2);
        }
        Script script = new Script(words.get(0), prefix);
        chosen.forEach(name -> script.scenario(name, scenarios.get(name)));
        System.exit(script.failed() ? 1 : 0);
    }

    interface Scenario {
        void run(Script script) throws Exception;
    }
}

// Scenarios: their explanations, and one that is made to happen while the page shows it.

import { signal } from "@preact/signals";

import { path, tell } from "./api";
import { give, linkTo } from "./route";
import { about, useAnswer } from "./store";
import { Button, Card, Empty, Tag, Text } from "./ui";

interface Scenario {
  name: string;
  summary: string;
  seen: string;
  clients: string;
  remedy: string;
  kip: string;
  brokers: number;
  own_broker: string;
}

interface Happened {
  name: string;
  timeline: string[];
  facts: Record<string, number | string>;
}

const happened = signal<Happened | null>(null);
const isRunning = signal(false);

const useScenarios = () => useAnswer<Scenario[]>("/scenarios.json", 0).data ?? [];

/** All scenarios, for the page of faults. */
export function Scenarios() {
  return (
    <Card title="Scenarios" hint="Failures that users of Kafka meet, each made to happen on purpose.">
      {useScenarios().map((each) => (
        <details key={each.name} class="scenario">
          <summary>
            {each.summary} {each.kip && <Tag>{each.kip}</Tag>}
          </summary>
          <Explanation of={each} />
          <p>
            {canHappenHere(each) ? (
              <a href={linkTo("transactions", { scenario: each.name })}>Watch it here</a>
            ) : (
              <Elsewhere of={each} />
            )}
          </p>
        </details>
      ))}
    </Card>
  );
}

const canHappenHere = (each: Scenario): boolean => about.value?.kind === (each.brokers ? "cluster" : "broker") && !each.own_broker;

function Elsewhere(props: { of: Scenario }) {
  return (
    <>
      It needs {props.of.brokers > 0 ? `a cluster of ${props.of.brokers} brokers` : "a broker of its own"}:{" "}
      <code>fencepost scenario run {props.of.name} --port 9192 --control 9180</code>
    </>
  );
}

function Explanation(props: { of: Scenario }) {
  return (
    <dl>
      <dt>What a user sees</dt>
      <dd>{props.of.seen}</dd>
      <dt>Which clients</dt>
      <dd>{props.of.clients}</dd>
      <dt>Remedy</dt>
      <dd>{props.of.remedy}</dd>
    </dl>
  );
}

async function run(name: string): Promise<void> {
  happened.value = null;
  isRunning.value = true;
  try {
    happened.value = await tell<Happened>("POST", path`/v1/scenarios/${name}/run`);
  } finally {
    isRunning.value = false;
  }
}

async function resetAndRun(name: string): Promise<void> {
  await tell("POST", "/v1/reset");
  await run(name);
}

/** The scenario that is watched: its explanation, a button, and what happens. */
export function Watched(props: { name: string }) {
  const scenario = useScenarios().find((each) => each.name === props.name);
  if (!scenario) return null;
  const done = happened.value?.name === props.name ? happened.value : null;
  return (
    <Card
      class="watched"
      title={
        <>
          {scenario.summary} {scenario.kip && <Tag>{scenario.kip}</Tag>}
        </>
      }
      side={
        <>
          {canHappenHere(scenario) && (
            <>
              <Button tone="main" do={() => run(props.name)} disabled={isRunning.value}>
                Make it happen
              </Button>
              <Button
                do={() => resetAndRun(props.name)}
                disabled={isRunning.value}
                title="The broker goes back to its start: topics, groups and fault rules that came later are removed"
              >
                Reset the broker, then make it happen
              </Button>
            </>
          )}
          <button type="button" onClick={() => give({ scenario: undefined })}>
            Close
          </button>
        </>
      }
    >
      <div class="beside">
        <Explanation of={scenario} />
        <div>
          <h3>What happens</h3>
          {!canHappenHere(scenario) && <Elsewhere of={scenario} />}
          {!done && <Empty>{isRunning.value ? "It happens now: the timeline below shows it." : "Nothing yet."}</Empty>}
          <ol class="told" aria-live="polite">
            {done?.timeline.map((line, at) => (
              <li key={at}>
                <Text of={line} />
              </li>
            ))}
          </ol>
          {done && (
            <dl class="facts">
              {Object.entries(done.facts).map(([name, value]) => (
                <div key={name}>
                  <dt>{name.replaceAll("_", " ")}</dt>
                  <dd>
                    <Text of={String(value)} />
                  </dd>
                </div>
              ))}
            </dl>
          )}
        </div>
      </div>
    </Card>
  );
}

// The cluster: its brokers, the processes behind them, and what the log says.

import { path, tell } from "../api";
import { about, logLines, useAnswer } from "../store";
import { dateAndTime, timeOfDay } from "../text";
import type { Brokers, ProcessState } from "../types";
import { Button, Card, Empty, Page, Table, Tag, Text, Wrong } from "../ui";

const TONES: Record<string, "good" | "busy" | "bad"> = { up: "good", paused: "busy", starting: "busy", down: "bad" };
const CHANGES: Record<string, [string, string][]> = {
  up: [
    ["pause", "SIGSTOP: it keeps its connections and answers nothing"],
    ["stop", "in order: others take over its partitions first"],
    ["kill", "SIGKILL: as a crash"],
  ],
  paused: [
    ["resume", "SIGCONT: it goes on"],
    ["kill", "SIGKILL: as a crash"],
  ],
  down: [["start", "again, at its old address"]],
};

export function ClusterPage() {
  const brokers = useAnswer<Brokers>("/v1/brokers");
  const isCluster = about.value?.kind === "cluster";
  const processes = useAnswer<{ processes: ProcessState[] }>(isCluster ? "/v1/processes" : null);
  return (
    <Page
      title="Cluster"
      hint="Brokers keep partitions and answer clients. A controller decides which broker leads which partition."
    >
      <Wrong problem={brokers.problem} />
      {brokers.data && (
        <Card
          title="Brokers"
          hint={
            <>
              Cluster <code>{brokers.data.cluster_id}</code>, clients begin at <code>{brokers.data.bootstrap}</code>
            </>
          }
        >
          <Table label="Brokers" head={["Broker", "State", "Listeners"]}>
            {brokers.data.brokers.map((each) => (
              <tr key={each.broker_id}>
                <td class="number">{each.broker_id}</td>
                <td>{each.ready ? <Tag tone="good">ready</Tag> : <Tag tone="bad">fenced</Tag>}</td>
                <td>
                  {Object.entries(each.listeners).map(([name, at]) => (
                    <code key={name}>
                      {name}://{at}{" "}
                    </code>
                  ))}
                </td>
              </tr>
            ))}
          </Table>
        </Card>
      )}
      {processes.data && <Processes processes={processes.data.processes} again={processes.again} />}
      <Wrong problem={processes.problem} />
      {!isCluster && <Alone />}
      <Log />
    </Page>
  );
}

function Processes(props: { processes: ProcessState[]; again: () => void }) {
  return (
    <Card title="Processes" hint="Each broker and the controller run in a process of their own, which can be broken here.">
      <Table label="Processes" head={["Process", "Roles", "State", "Pid", "Break or mend"]}>
        {props.processes.map((each) => (
          <tr key={each.id}>
            <td>{each.label}</td>
            <td>{each.roles.join(", ")}</td>
            <td>
              <Tag tone={TONES[each.state] ?? "quiet"}>{each.state}</Tag>
            </td>
            <td class="number">{each.pid ?? ""}</td>
            <td class="actions">
              {(CHANGES[each.state] ?? []).map(([what, why]) => (
                <Button
                  key={what}
                  tone={what === "kill" ? "bad" : undefined}
                  title={why}
                  label={`${what} ${each.label}`}
                  do={async () => {
                    await tell("POST", path`/v1/processes/${each.id}/${what}`);
                    props.again();
                  }}
                >
                  {what}
                </Button>
              ))}
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}

function Alone() {
  return (
    <Card title="Processes">
      <Empty>
        One process is broker and controller. A cluster of processes, which can be killed and paused here, is{" "}
        <code>fencepost up --brokers 3 --console</code>.
      </Empty>
    </Card>
  );
}

function Log() {
  void logLines.version.value;
  const lines = logLines.items.slice(-200).reverse();
  return (
    <Card title="Log" hint="What the broker has written to its log since this page was opened, the newest first.">
      {lines.length === 0 ? (
        <Empty>Nothing yet.</Empty>
      ) : (
        <Table label="Log" head={["Time", "Broker", "Area", "Level", "What"]} class="log">
          {lines.map((each, at) => (
            <tr key={lines.length - at}>
              <td class="time" title={dateAndTime(each.at_ms)}>
                {timeOfDay(each.at_ms)}
              </td>
              <td class="number">{each.broker < 0 ? "" : each.broker}</td>
              <td>{each.area}</td>
              <td>
                <Tag tone={each.level === "error" ? "bad" : each.level === "warning" ? "busy" : "quiet"}>{each.level}</Tag>
              </td>
              <td class="wide">
                <Text of={each.text} />
                {Object.entries(each.values).map(([name, value]) => (
                  <span key={name} class="value">
                    {" "}
                    <Text of={name} />=<Text of={value} />
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}

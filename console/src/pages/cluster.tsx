// The cluster: its brokers, the processes behind them, and what the log says.

import { useEffect, useState } from "preact/hooks";

import { path, tell } from "../api";
import { linkTo } from "../route";
import { about, logLines, useAnswer } from "../store";
import { dateAndTime, many, timeOfDay } from "../text";
import type { Brokers, ProcessState, TopicState } from "../types";
import { Button, Card, Empty, Field, Page, Table, Tag, Text, Wrong } from "../ui";

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
  const partitions = usePartitions();
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
              Cluster <code>{brokers.data.cluster_id}</code>, clients begin at <code>{brokers.data.bootstrap}</code>.{" "}
              {processes.data && `The controller is ${processes.data.processes.filter((each) => each.roles.includes("controller")).map((each) => `${each.label}, which is ${each.state}`).join("; ")}.`}
            </>
          }
        >
          <Table label="Brokers" head={["Broker", "State", "Leads", "In sync", "Not in sync", "Producer ids left", "Listeners"]}>
            {brokers.data.brokers.map((each) => (
              <tr key={each.broker_id}>
                <td class="number">{each.broker_id}</td>
                <td>{each.ready ? <Tag tone="good">ready</Tag> : <Tag tone="bad">fenced</Tag>}</td>
                <td class="number">{partitions.filter((at) => at.leader === each.broker_id).length}</td>
                <td class="number">{partitions.filter((at) => at.isr.includes(each.broker_id)).length}</td>
                <td class="number">{lagging(partitions, each.broker_id) > 0 ? <Tag tone="bad">{lagging(partitions, each.broker_id)}</Tag> : 0}</td>
                <td>
                  {each.producer_ids === null ? <span class="none">unknown</span> : each.producer_ids.map(([first, last]) => `${first} to ${last}`).join(", ") || "none"}
                </td>
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
      {isCluster && brokers.data && <Wires brokers={brokers.data.brokers.map((each) => each.broker_id)} />}
      {!isCluster && <Alone />}
      <Troubled partitions={partitions} />
      <Elections />
      <Log />
    </Page>
  );
}

// -- partitions: who leads them, and who is in sync ---------------------------------------------

interface Placed {
  topic: string;
  partition: number;
  leader: number;
  replicas: number[];
  isr: number[];
}

interface Election {
  at_ms: number;
  topic: string;
  partition: number;
  from: number;
  to: number;
}

/** A cluster with more partitions is asked less often. */
const MANY = 1000;
const LISTED = 50;
const elections: Election[] = [];
let leaders = new Map<string, number>();

/** All partitions, asked for again and again; leaders that change are noted as elections. */
function usePartitions(): Placed[] {
  const [everyMs, setEvery] = useState(1500);
  const { data } = useAnswer<{ topics: TopicState[] }>("/v1/topics", everyMs);
  const placed = (data?.topics ?? []).flatMap((topic) => topic.partitions.map((each) => ({ topic: topic.name, ...each })));
  useEffect(() => setEvery(placed.length > MANY ? 15_000 : 1500), [placed.length > MANY]);
  if (data) {
    const now = new Map(placed.map((each) => [`${each.topic}-${each.partition}`, each.leader]));
    for (const each of placed) {
      const before = leaders.get(`${each.topic}-${each.partition}`);
      if (before !== undefined && before !== each.leader) elections.unshift({ at_ms: Date.now(), topic: each.topic, partition: each.partition, from: before, to: each.leader });
    }
    elections.length = Math.min(elections.length, 10 * LISTED);
    leaders = now;
  }
  return placed;
}

/** How many partitions a broker has a replica of that is not in sync. */
const lagging = (partitions: Placed[], broker: number): number =>
  partitions.filter((each) => each.replicas.includes(broker) && !each.isr.includes(broker)).length;

const nameOf = (broker: number): string => (broker < 0 ? "none" : `broker ${broker}`);

function PartitionLink(props: { of: { topic: string; partition: number } }) {
  const { topic, partition } = props.of;
  return (
    <a href={linkTo("topics", { topic, partition })}>
      <Text of={`${topic}-${partition}`} />
    </a>
  );
}

/** The partitions that have no leader, or replicas that are not in sync. */
function Troubled(props: { partitions: Placed[] }) {
  const found = props.partitions.filter((each) => each.leader < 0 || each.isr.length < each.replicas.length);
  if (found.length === 0) return null;
  return (
    <Card title={many(found.length, "partition") + " in trouble"} hint="They have no leader, or replicas that are not in sync: those must catch up before they can lead.">
      <Table label="Partitions in trouble" head={["Partition", "Leader", "Replicas", "In sync"]}>
        {found.slice(0, LISTED).map((each) => (
          <tr key={`${each.topic}-${each.partition}`}>
            <td>
              <PartitionLink of={each} />
            </td>
            <td>{each.leader < 0 ? <Tag tone="bad">none</Tag> : each.leader}</td>
            <td>{each.replicas.join(", ")}</td>
            <td>{each.isr.join(", ")}</td>
          </tr>
        ))}
      </Table>
      {found.length > LISTED && <p class="hint">The first {LISTED} are shown.</p>}
    </Card>
  );
}

function Elections() {
  if (elections.length === 0) return null;
  return (
    <Card title="Elections" hint="Partitions whose leader has changed while this page was open, the newest first.">
      <Table label="Elections" head={["Time", "Partition", "From", "To"]}>
        {elections.slice(0, LISTED).map((each, at) => (
          <tr key={elections.length - at}>
            <td class="time">{timeOfDay(each.at_ms)}</td>
            <td>
              <PartitionLink of={each} />
            </td>
            <td>{nameOf(each.from)}</td>
            <td>{nameOf(each.to)}</td>
          </tr>
        ))}
      </Table>
      {elections.length > LISTED && <p class="hint">The last {LISTED} are shown.</p>}
    </Card>
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

// -- wires: by which a follower fetches records from a leader -------------------------------------

interface Cut {
  name: string;
  rule: { act: { type?: string }; match?: { broker?: number; client_id?: string } };
}

/** The brokers that a rule keeps apart: who does not hear whom. */
function ends({ rule }: Cut): [number, number] | null {
  const follower = /^broker-(\d+)-fetcher$/.exec(rule.match?.client_id ?? "");
  return rule.act.type === "blackhole" && follower && rule.match?.broker !== undefined ? [Number(follower[1]), rule.match.broker] : null;
}

function Wires(props: { brokers: number[] }) {
  const { data, problem, again } = useAnswer<{ faults: Cut[] }>("/v1/faults", 1500);
  const [follower, setFollower] = useState(props.brokers[1]);
  const [leader, setLeader] = useState(props.brokers[0]);
  if (follower === undefined || leader === undefined) return null;
  const cuts = (data?.faults ?? []).flatMap((each) => {
    const between = ends(each);
    return between ? [{ name: each.name, follower: between[0], leader: between[1] }] : [];
  });
  const chosen = (label: string, value: number, set: (broker: number) => void) => (
    <Field label={label}>
      <select value={value} onChange={(e) => set(Number(e.currentTarget.value))}>
        {props.brokers.map((each) => (
          <option key={each} value={each}>
            broker {each}
          </option>
        ))}
      </select>
    </Field>
  );
  return (
    <Card
      title="Wires"
      hint="Followers fetch records from leaders. Nothing gets through a cut wire, as in a network that drops packets, so the follower falls out of sync when there are new records. A cut is a fault rule."
    >
      <div class="filters">
        {chosen("Follower", follower, setFollower)}
        {chosen("Leader", leader, setLeader)}
        <Button
          label={`Cut the wire by which broker ${follower} fetches from broker ${leader}`}
          disabled={follower === leader || cuts.some((each) => each.follower === follower && each.leader === leader)}
          do={async () => {
            await tell("POST", "/v1/faults", { act: { type: "blackhole" }, match: { broker: leader, client_id: `broker-${follower}-fetcher` } });
            again();
          }}
        >
          Cut the wire
        </Button>
      </div>
      <Wrong problem={problem} />
      {cuts.length > 0 && (
        <ul class="fired">
          {cuts.map((each) => (
            <li key={each.name}>
              Broker {each.follower} gets no answers from broker {each.leader}.{" "}
              <Button
                label={`Mend the wire by which broker ${each.follower} fetches from broker ${each.leader}`}
                do={async () => {
                  await tell("DELETE", path`/v1/faults/${each.name}`);
                  again();
                }}
              >
                Mend
              </Button>
            </li>
          ))}
        </ul>
      )}
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

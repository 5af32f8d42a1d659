// Fault rules, state time, and scenarios.

import { useState } from "preact/hooks";

import { path, tell } from "../api";
import { about, faultsFired, useAnswer } from "../store";
import { dateAndTime, duration, many, timeOfDay } from "../text";
import { Scenarios } from "../scenarios";
import { Button, Card, Empty, Field, Page, Table, Tag, Text, Wrong } from "../ui";

interface Rule {
  name: string;
  fired: number;
  matched: number;
  held: number;
  is_over: boolean;
  refused: string;
  rule: { act: Record<string, unknown>; match?: Record<string, unknown>; times?: number | null; skip?: number };
}

export function FaultsPage() {
  return (
    <Page
      title="Faults and clock"
      hint="A fault rule makes requests fail on purpose: it matches some of them, and says what happens to these. Time passes as you say."
    >
      <Rules />
      {about.value?.kind !== "proxy" && <Clock />}
      <Scenarios />
    </Page>
  );
}

// -- rules ---------------------------------------------------------------------------------------

function Rules() {
  const { data, problem, again } = useAnswer<{ faults: Rule[] }>("/v1/faults", 1000);
  void faultsFired.version.value;
  const rules = data?.faults ?? [];
  const doing = (method: string, url: string) => async () => {
    await tell(method, url);
    again();
  };
  return (
    <Card
      title="Fault rules"
      hint="In the order in which they are tried. A rule counts what it matched and how often it fired, so that a test can prove that it happened."
      side={rules.length > 0 && <Button do={doing("DELETE", "/v1/faults")}>Remove all</Button>}
    >
      <Wrong problem={problem} />
      <NewRule again={again} />
      {data && rules.length === 0 && <Empty>No rule: every request is answered as it should be.</Empty>}
      {rules.length > 0 && (
        <Table label="Fault rules" head={["Name", "What happens", "To which requests", "Fired", "Matched", "Holds", "Change"]}>
          {rules.map((each) => (
            <tr key={each.name}>
              <td>
                <Text of={each.name} />
              </td>
              <td>
                <Given of={each.rule.act} />
                {each.rule.times && <small> at most {many(each.rule.times, "time")}</small>}
                {each.refused && <span class="wrong">{each.refused}</span>}
              </td>
              <td>
                <Given of={each.rule.match ?? {}} none="all requests" />
              </td>
              <td class="number">
                {each.fired} {each.is_over && <Tag title="It cannot fire any more.">over</Tag>}
              </td>
              <td class="number">{each.matched}</td>
              <td class="number">{each.held || ""}</td>
              <td class="actions">
                {each.held > 0 && (
                  <Button tone="main" label={`Release what ${each.name} holds`} do={doing("POST", path`/v1/faults/${each.name}/release`)}>
                    Release
                  </Button>
                )}
                <Button label={`Remove ${each.name}`} do={doing("DELETE", path`/v1/faults/${each.name}`)}>
                  Remove
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {faultsFired.items.length > 0 && (
        <ul class="fired" aria-label="Rules that fired last">
          {faultsFired.items
            .slice(-5)
            .reverse()
            .map((each) => (
              <li key={`${each.name} ${each.fired}`}>
                <span class="time">{timeOfDay(each.at_ms)}</span> <Text of={each.name} /> fired on {each.api} of <Text of={each.client_id} none="a client" />
              </li>
            ))}
        </ul>
      )}
    </Card>
  );
}

/** The fields of a rule's part, as name and value. */
function Given(props: { of: Record<string, unknown>; none?: string }) {
  const entries = Object.entries(props.of).filter(([name]) => name !== "type");
  const type = props.of["type"];
  if (!type && entries.length === 0) return <span class="none">{props.none}</span>;
  return (
    <>
      {type ? <b>{String(type)} </b> : null}
      {entries.map(([name, value]) => (
        <span key={name} class="value">
          {name}=<Text of={typeof value === "string" ? value : JSON.stringify(value)} />{" "}
        </span>
      ))}
    </>
  );
}

const ACTS: Record<string, { title: string; field?: [string, string, string] }> = {
  error: { title: "answer with an error", field: ["code", "Error", "COORDINATOR_NOT_AVAILABLE"] },
  delay: { title: "answer later", field: ["ms", "Milliseconds", "1000"] },
  hold: { title: "hold until it is released" },
  "drop-answer": { title: "carry it out, and close without an answer" },
  "drop-request": { title: "close without carrying it out" },
  "slow-answer": { title: "answer slowly", field: ["bytes_per_s", "Bytes a second", "100"] },
};

function NewRule(props: { again: () => void }) {
  const [act, setAct] = useState("error");
  const [value, setValue] = useState(ACTS["error"]!.field![2]);
  const [match, setMatch] = useState({ api: "Produce", client_id: "", topic: "", transactional_id: "" });
  const [times, setTimes] = useState("1");
  const field = ACTS[act]!.field;
  const add = async () => {
    const made: Record<string, unknown> = { type: act };
    if (field) made[field[0]] = /^\d+$/.test(value) ? Number(value) : value;
    const wanted = Object.fromEntries(Object.entries(match).filter(([, each]) => each.trim()));
    await tell("POST", "/v1/faults", { act: made, match: wanted, times: times ? Number(times) : null });
    props.again();
  };
  const matching = (name: keyof typeof match, label: string) => (
    <Field label={label}>
      <input size={14} value={match[name]} onInput={(e) => setMatch({ ...match, [name]: e.currentTarget.value })} />
    </Field>
  );
  return (
    <div class="filters">
      {matching("api", "API")}
      {matching("client_id", "Client id")}
      {matching("topic", "Topic")}
      {matching("transactional_id", "Transactional id")}
      <Field label="What happens">
        <select
          value={act}
          onChange={(e) => {
            setAct(e.currentTarget.value);
            setValue(ACTS[e.currentTarget.value]!.field?.[2] ?? "");
          }}
        >
          {Object.entries(ACTS).map(([name, each]) => (
            <option key={name} value={name}>
              {each.title}
            </option>
          ))}
        </select>
      </Field>
      {field && (
        <Field label={field[1]}>
          <input value={value} size={26} onInput={(e) => setValue(e.currentTarget.value)} />
        </Field>
      )}
      <Field label="At most, times">
        <input value={times} size={6} inputMode="numeric" onInput={(e) => setTimes(e.currentTarget.value)} />
      </Field>
      <Button tone="main" do={add}>
        Add rule
      </Button>
    </div>
  );
}

// -- the clock -----------------------------------------------------------------------------------

const STEPS: [string, Record<string, number>][] = [
  ["1 s", { seconds: 1 }],
  ["1 min", { minutes: 1 }],
  ["1 h", { hours: 1 }],
  ["8 days", { days: 8 }],
];

function Clock() {
  const { data, problem, again } = useAnswer<{ now_ms: number; manual: boolean; next_deadline_ms: number | null }>("/v1/clock", 1000);
  const left = data && data.next_deadline_ms !== null ? Math.max(0, data.next_deadline_ms - data.now_ms) : null;
  const doing = (what: string, body?: unknown) => async () => {
    await tell("POST", `/v1/clock/${what}`, body);
    again();
  };
  return (
    <Card
      title="State time"
      hint="What the broker believes the time is: transactions time out, sessions expire and retention deletes by it. Moving it does at once what would be due."
    >
      <Wrong problem={problem} />
      {data && (
        <div class="filters">
          <p class="clock" role="status">
            {dateAndTime(data.now_ms)} {data.manual ? <Tag tone="busy">stands still</Tag> : <Tag tone="good">runs</Tag>}
          </p>
          {data.manual ? (
            <Button do={doing("resume")}>Let it run</Button>
          ) : (
            <Button do={doing("pause")}>Let it stand still</Button>
          )}
          {left !== null && (
            <Button
              do={doing("advance", { ms: Math.max(1, left) })}
              title="To the moment at which something is due: a timeout, the end of a session, a rebalance"
            >
              To the next deadline, in {duration(left)}
            </Button>
          )}
          {STEPS.map(([name, step]) => (
            <Button key={name} do={doing("advance", step)} label={`Move state time forward by ${name}`}>
              + {name}
            </Button>
          ))}
        </div>
      )}
    </Card>
  );
}

// Topics: partitions with their offsets, and records as they lie in the log.

import { useState } from "preact/hooks";

import { path, tell } from "../api";
import { decode } from "../bytes";
import { give, given, linkTo } from "../route";
import { useAnswer } from "../store";
import { dateAndTime, many, size, visible } from "../text";
import type { PartitionExplained, TopicState } from "../types";
import { Button, Card, Empty, Field, Page, Table, Tag, Text, Wrong } from "../ui";
import { Holder } from "./transactions";

interface Offsets {
  partition: number;
  leader: number;
  log_start_offset: number;
  last_stable_offset: number;
  high_watermark: number;
  log_end_offset: number;
  size_bytes: number;
}

interface Batch {
  base_offset: number;
  last_offset: number;
  size_bytes: number;
  compression: string;
  producer_id: number;
  producer_epoch: number;
  base_sequence: number;
  outcome: "" | "open" | "committed" | "aborted";
  control: string;
  records: ReadRecord[];
  problem: string;
}

interface ReadRecord {
  offset: number;
  timestamp_ms: number;
  key: string | null;
  key_bytes: number;
  value: string | null;
  value_bytes: number;
  headers: [string, string | null][];
}

const LISTED = 500;
const COUNT = 100;

export function TopicsPage() {
  const { data, problem, again } = useAnswer<{ topics: TopicState[] }>("/v1/topics", 3000);
  const topic = given("topic") || (data?.topics.find((each) => !each.name.startsWith("__")) ?? data?.topics[0])?.name;
  const search = given("search").toLowerCase();
  const found = (data?.topics ?? []).filter((each) => each.name.toLowerCase().includes(search));
  return (
    <Page title="Topics" hint="A topic is a set of partitions; a partition is a log of records, each with an offset.">
      <Wrong problem={problem} />
      <div class="columns">
        <Card title={many(data?.topics.length ?? 0, "topic")}>
          <Field label="Search">
            <input value={given("search")} onInput={(e) => give({ search: e.currentTarget.value })} />
          </Field>
          <ul class="names">
            {found.slice(0, LISTED).map((each) => (
              <li key={each.name}>
                <a href={linkTo("topics", { topic: each.name, search: given("search") })} aria-current={each.name === topic ? "true" : undefined}>
                  <Text of={each.name} /> <small>{each.partitions.length}</small>
                </a>
              </li>
            ))}
          </ul>
          {found.length > LISTED && <p class="hint">{many(found.length - LISTED, "more topic")}: search for them.</p>}
          <NewTopic again={again} />
        </Card>
        <div>{topic ? <Topic key={topic} topic={topic} /> : data && <Card><Empty>No topic yet. Clients create one when they write to it, or you do at the left.</Empty></Card>}</div>
      </div>
    </Page>
  );
}

function NewTopic(props: { again: () => void }) {
  const [name, setName] = useState("");
  const [partitions, setPartitions] = useState("1");
  const create = async () => {
    await tell("POST", "/v1/topics", { name, partitions: Number(partitions) || -1 });
    setName("");
    props.again();
  };
  return (
    <details>
      <summary>New topic</summary>
      <div class="filters">
        <Field label="Name">
          <input size={14} value={name} onInput={(e) => setName(e.currentTarget.value)} />
        </Field>
        <Field label="Partitions">
          <input size={4} inputMode="numeric" value={partitions} onInput={(e) => setPartitions(e.currentTarget.value)} />
        </Field>
        <Button do={create}>Create</Button>
      </div>
    </details>
  );
}

function Topic(props: { topic: string }) {
  const { data, problem, again } = useAnswer<{ partitions: Offsets[] }>(path`/v1/topics/${props.topic}`, 1500);
  const partition = given("partition") === "" ? (data?.partitions[0]?.partition ?? 0) : Number(given("partition"));
  const rows = data?.partitions ?? [];
  return (
    <>
      <Card
        title={<Text of={props.topic} />}
        hint="Consumers of committed records read up to the last stable offset (LSO), others up to the high watermark, which all in-sync replicas have."
      >
        <Wrong problem={problem} />
        <Table label="Partitions" head={["Partition", "Leader", "Log start", "LSO", "High watermark", "Log end", "Size", "Readers"]}>
          {rows.map((each) => (
            <tr key={each.partition} class={each.partition === partition ? "picked" : ""}>
              <td>
                <a href={linkTo("topics", { topic: props.topic, partition: each.partition })}>{each.partition}</a>
              </td>
              <td class="number">{each.leader < 0 ? "none" : each.leader}</td>
              <td class="number">{each.log_start_offset}</td>
              <td class="number">{each.last_stable_offset}</td>
              <td class="number">{each.high_watermark}</td>
              <td class="number">{each.log_end_offset}</td>
              <td class="number">{size(each.size_bytes)}</td>
              <td>{each.last_stable_offset < each.high_watermark && <Tag tone="busy">readers wait</Tag>}</td>
            </tr>
          ))}
        </Table>
      </Card>
      <Records key={`${props.topic} ${partition}`} topic={props.topic} partition={partition} again={again} />
    </>
  );
}

function Records(props: { topic: string; partition: number; again: () => void }) {
  const offset = Number(given("offset")) || 0;
  const base = path`/v1/topics/${props.topic}/partitions/${props.partition}`;
  const { data, problem, again } = useAnswer<{ offsets: Offsets; batches: Batch[]; next_offset: number }>(
    `${base}/records?offset=${offset}&count=${COUNT}`,
    2000,
  );
  const explained = useAnswer<PartitionExplained>(base, 2000);
  const holder = explained.data?.holder;
  return (
    <Card
      title={
        <>
          Records of <Text of={props.topic} />-{props.partition}
        </>
      }
      hint="As they lie in the log. Control records end transactions; consumers do not see them, nor what was aborted."
      side={
        <Field label="From offset">
          <input type="number" min={0} value={offset} onInput={(e) => give({ offset: e.currentTarget.value })} />
        </Field>
      }
    >
      <Wrong problem={problem} />
      {holder && explained.data && (
        <p class="holder">
          <b>The last stable offset is held at {explained.data.last_stable_offset} by </b>
          <Holder of={explained.data} />
        </p>
      )}
      <Produce url={`${base}/records`} again={() => (again(), props.again())} />
      {data && data.batches.length === 0 && <Empty>No record from this offset on.</Empty>}
      {data && data.batches.length > 0 && (
        <Table label="Records" head={["Offset", "Time", "Key", "Value", "Headers", "Batch"]} class="records">
          {data.batches.flatMap((batch, at) => rowsOf(batch, data.batches[at - 1]))}
        </Table>
      )}
      {data && data.next_offset < data.offsets.log_end_offset && (
        <button type="button" onClick={() => give({ offset: data.next_offset })}>
          Next records
        </button>
      )}
    </Card>
  );
}

function rowsOf(batch: Batch, before: Batch | undefined) {
  const rows = [];
  if (before && batch.base_offset > before.last_offset + 1)
    rows.push(
      <tr key={`gap ${batch.base_offset}`} class="gap">
        <td colSpan={6}>
          Offsets {before.last_offset + 1} to {batch.base_offset - 1} are gone: compaction has removed them.
        </td>
      </tr>,
    );
  const about = (
    <small>
      {size(batch.size_bytes)}
      {batch.compression !== "none" && `, ${batch.compression}`}
      {batch.producer_id >= 0 && `, producer ${batch.producer_id} epoch ${batch.producer_epoch}`}
      {batch.base_sequence >= 0 && `, sequence ${batch.base_sequence}`}
    </small>
  );
  if (batch.control || batch.problem)
    rows.push(
      <tr key={batch.base_offset} class="control">
        <td class="number">{batch.base_offset}</td>
        <td />
        <td colSpan={3}>
          {batch.problem ? (
            <span class="wrong">{visible(batch.problem)}</span>
          ) : (
            <Tag tone={batch.control === "commit" ? "good" : "bad"}>{batch.control} marker</Tag>
          )}
        </td>
        <td>{about}</td>
      </tr>,
    );
  batch.records.forEach((each, at) =>
    rows.push(
      <tr key={each.offset} class={batch.outcome}>
        <td class="number">{each.offset}</td>
        <td class="time">{dateAndTime(each.timestamp_ms)}</td>
        <td>
          <Content of={each.key} size={each.key_bytes} />
        </td>
        <td class="wide">
          <Content of={each.value} size={each.value_bytes} />
        </td>
        <td>
          {each.headers.map(([name, value], number) => (
            <span key={number} class="value">
              <Text of={name} />=<Content of={value} size={0} />{" "}
            </span>
          ))}
        </td>
        <td>
          {batch.outcome && <Tag tone={batch.outcome === "committed" ? "good" : batch.outcome === "open" ? "busy" : "bad"}>{batch.outcome}</Tag>}
          {at === 0 && about}
        </td>
      </tr>,
    ),
  );
  return rows;
}

/** Bytes as text if they are text, and else in hex. */
function Content(props: { of: string | null; size: number }) {
  if (props.of === null) return <span class="none">null</span>;
  const bytes = decode(props.of);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    text = [...bytes].map((each) => each.toString(16).padStart(2, "0")).join(" ");
    return <code title="Not UTF-8: the bytes in hex">{text}</code>;
  }
  return (
    <>
      <Text of={text} none="empty" />
      {props.size > bytes.length && <small> … {size(props.size)}</small>}
    </>
  );
}

function Produce(props: { url: string; again: () => void }) {
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const write = async () => {
    await tell("POST", props.url, { key: key === "" ? null : key, value });
    setValue("");
    props.again();
  };
  return (
    <details>
      <summary>Write a record by hand</summary>
      <div class="filters">
        <Field label="Key (empty: null)">
          <input value={key} onInput={(e) => setKey(e.currentTarget.value)} />
        </Field>
        <Field label="Value">
          <input value={value} size={40} onInput={(e) => setValue(e.currentTarget.value)} />
        </Field>
        <Button tone="main" do={write}>
          Write
        </Button>
      </div>
    </details>
  );
}

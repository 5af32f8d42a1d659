// Topics: partitions with their offsets, and records as they lie in the log.

import { useEffect, useState } from "preact/hooks";

import { path, tell } from "../api";
import { Content, FORMS } from "../content";
import { give, given, linkTo } from "../route";
import { decodedOf, SchemaChoice, useDecoded } from "../schemas";
import { useAnswer } from "../store";
import { dateAndTime, many, size, visible } from "../text";
import type { PartitionExplained, TopicState } from "../types";
import { Button, Card, Empty, Field, Page, Table, Tag, Text, Wrong } from "../ui";
import { LongList, LongTable } from "../virtual";
import { Holder, HolderButtons } from "./transactions";

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

const ROW = 30;
/** A cluster with more partitions is asked less often: each answer costs it something. */
const MANY = 1000;
const COUNT = 100;
/** Of a value that is decoded by a schema, which needs all of it. */
const WHOLE_BYTES = 1 << 16;

export function TopicsPage() {
  const [everyMs, setEvery] = useState(3000);
  const { data, problem, again } = useAnswer<{ topics: TopicState[] }>("/v1/topics", everyMs);
  const partitions = (data?.topics ?? []).reduce((sum, each) => sum + each.partitions.length, 0);
  useEffect(() => setEvery(partitions > MANY ? 15_000 : 3000), [partitions > MANY]);
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
          <LongList label="Topics" row={ROW} items={found}>
            {(each) => (
              <li key={each.name}>
                <a href={linkTo("topics", { topic: each.name, search: given("search") })} aria-current={each.name === topic ? "true" : undefined}>
                  <Text of={each.name} /> <small>{each.partitions.length}</small>
                </a>
              </li>
            )}
          </LongList>
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
  const [everyMs, setEvery] = useState(1500);
  const { data, problem, again } = useAnswer<{ partitions: Offsets[] }>(path`/v1/topics/${props.topic}`, everyMs);
  const partition = given("partition") === "" ? (data?.partitions[0]?.partition ?? 0) : Number(given("partition"));
  const rows = data?.partitions ?? [];
  useEffect(() => setEvery(rows.length > MANY ? 15_000 : 1500), [rows.length > MANY]);
  return (
    <>
      <Card
        title={<Text of={props.topic} />}
        hint="Consumers of committed records read up to the last stable offset (LSO), others up to the high watermark, which all in-sync replicas have."
      >
        <Wrong problem={problem} />
        <LongTable label="Partitions" row={ROW} items={rows} head={["Partition", "Leader", "Log start", "LSO", "High watermark", "Log end", "Size", "Readers"]}>
          {(each) => (
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
          )}
        </LongTable>
      </Card>
      <Records key={`${props.topic} ${partition}`} topic={props.topic} partition={partition} again={again} />
    </>
  );
}

function Records(props: { topic: string; partition: number; again: () => void }) {
  const offset = Number(given("offset")) || 0;
  const base = path`/v1/topics/${props.topic}/partitions/${props.partition}`;
  const key = given("key");
  const since = Date.parse(given("since"));
  const wanted = new URLSearchParams({ offset: String(offset), count: String(COUNT) });
  if (key) wanted.set("key", key);
  if (!Number.isNaN(since)) wanted.set("at_ms", String(since));
  const form = given("as");
  if (form === "schema") wanted.set("bytes_max", String(WHOLE_BYTES));
  const { data, problem, again } = useAnswer<{ offsets: Offsets; batches: Batch[]; next_offset: number }>(
    `${base}/records?${wanted}`,
    2000,
  );
  const values = (data?.batches ?? []).flatMap((each) => each.records.filter(isWhole).map((record) => record.value!));
  const bySchema = useDecoded(props.topic, form === "schema" ? values : []);
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
    >
      <div class="filters">
        <Field label="From offset">
          <input type="number" min={0} value={offset} onChange={(e) => give({ offset: e.currentTarget.value })} />
        </Field>
        <Field label="From time">
          <input type="datetime-local" step={1} value={given("since")} onChange={(e) => give({ since: e.currentTarget.value })} />
        </Field>
        <Field label="Only with this key">
          <input value={key} onChange={(e) => give({ key: e.currentTarget.value })} />
        </Field>
        <Field label="Show as">
          <select value={form} onChange={(e) => give({ as: e.currentTarget.value })}>
            {Object.entries(FORMS).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </Field>
      </div>
      {form === "schema" && <SchemaChoice topic={props.topic} problem={bySchema.problem} />}
      <Wrong problem={problem} />
      {holder && explained.data && (
        <p class="holder">
          <b>The last stable offset is held at {explained.data.last_stable_offset} by </b>
          <Holder of={explained.data} />
          <HolderButtons of={explained.data} again={() => (explained.again(), again(), props.again())} />
        </p>
      )}
      <Produce url={`${base}/records`} again={() => (again(), props.again())} />
      {data && data.batches.length === 0 && <Empty>{key ? `No record with this key up to offset ${data.next_offset}.` : "No record from here on."}</Empty>}
      {data && data.batches.length > 0 && (
        <Table label="Records" head={["Offset", "Time", "Key", "Value", "Headers", "Batch"]} class="records">
          {data.batches.flatMap((batch, at) => rowsOf(batch, key ? undefined : data.batches[at - 1], form, props.topic))}
        </Table>
      )}
      {data && data.next_offset < data.offsets.log_end_offset && (
        <button type="button" onClick={() => give({ offset: data.next_offset, since: undefined })}>
          {key ? `Search on from offset ${data.next_offset}` : "Next records"}
        </button>
      )}
    </Card>
  );
}

/** Whether a value is there in full. */
const isWhole = (each: ReadRecord): boolean => each.value !== null && decodedSize(each.value) >= each.value_bytes;
const decodedSize = (base64: string): number => (base64.length / 4) * 3 - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);

function rowsOf(batch: Batch, before: Batch | undefined, form: string, topic: string) {
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
      {batch.producer_id >= 0 && batch.base_sequence >= 0 && `, sequence ${batch.base_sequence}`}
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
          <Content of={each.key} size={each.key_bytes} form={form === "schema" ? "" : form} />
        </td>
        <td class="wide">
          <Content of={each.value} size={each.value_bytes} form={form} decoded={form === "schema" ? decodedOf(topic, each.value, isWhole(each)) : undefined} />
        </td>
        <td>
          {each.headers.map(([name, value], number) => (
            <span key={number} class="value">
              <Text of={name} />=<Content of={value} size={0} form="" />{" "}
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

const ENDS = { "": "without a transaction", commit: "in a transaction that commits", abort: "in a transaction that aborts" };

function Produce(props: { url: string; again: () => void }) {
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const [header, setHeader] = useState("");
  const [end, setEnd] = useState("");
  const [id, setId] = useState("by-hand");
  const write = async () => {
    const [name, ...rest] = header.split("=");
    const headers = name ? { [name]: rest.join("=") } : {};
    const transaction = end ? { transactional_id: id, abort: end === "abort" } : {};
    await tell("POST", props.url, { key: key === "" ? null : key, value, headers, ...transaction });
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
        <Field label="Header (name=value)">
          <input value={header} onInput={(e) => setHeader(e.currentTarget.value)} />
        </Field>
        <Field label="How">
          <select value={end} onChange={(e) => setEnd(e.currentTarget.value)}>
            {Object.entries(ENDS).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </Field>
        {end && (
          <Field label="Transactional id">
            <input value={id} onInput={(e) => setId(e.currentTarget.value)} />
          </Field>
        )}
        <Button tone="main" do={write}>
          Write
        </Button>
      </div>
    </details>
  );
}

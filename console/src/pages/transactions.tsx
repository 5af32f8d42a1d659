// Transactions as they happen: the timeline, what waits now and why, and buttons that mend it.

import { useMemo, useRef, useState } from "preact/hooks";

import { path, perform, tell } from "../api";
import { give, given, linkTo } from "../route";
import { about, clearSteps, isOfBroker, steps, useAnswer } from "../store";
import { Watched } from "../scenarios";
import { duration, many, timeOfDay } from "../text";
import { TITLES, Timeline } from "../timeline/draw";
import { asJson, asPng, asSvg, fromJson, save } from "../timeline/export";
import { draw, isAbout, partitionName, type Picture, PROTOCOL, prepare } from "../timeline/model";
import { sentence, whoIs } from "../timeline/words";
import type { ListedTransaction, PartitionExplained, Step, TransactionExplained } from "../types";
import { Button, Card, Empty, Page, Table, Tag, Text, Wrong } from "../ui";

const DRAWN = 240;
const LISTED = 120;
const ZOOMS = [0.5, 0.75, 1, 1.5];

export function TransactionsPage() {
  const [frozen, setFrozen] = useState<Step[] | null>(null);
  const [file, setFile] = useState("");
  const [fileProblem, setFileProblem] = useState("");
  const box = useRef<HTMLDivElement>(null);
  const followed = given("follow");
  const zoom = Number(given("zoom")) || 1;
  const version = steps.version.value;

  const { shown, ids } = useMemo(() => {
    const all = prepare(frozen ?? steps.items);
    const kept = followed ? all.filter((each) => isAbout(each, followed)) : all;
    return { shown: kept, ids: idsOf(all) };
  }, [version, frozen, followed]);
  const idOf = (each: Step | undefined) => (each && ids.get(each)) ?? "";
  const untilAt = given("until") ? shown.findIndex((each) => idOf(each) === given("until")) : -1;
  const end = untilAt < 0 ? shown.length : untilAt + 1;
  const drawn = shown.slice(Math.max(0, end - DRAWN), end);
  const selected = given("step") ? drawn.findIndex((each) => idOf(each) === given("step")) : -1;
  const setSelected = (at: number) => give({ step: idOf(drawn[at]) });
  const picture = useMemo(() => draw(drawn, zoom), [version, frozen, followed, end, zoom]);
  const open = async (chosen: File | undefined) => {
    if (!chosen) return;
    try {
      setFrozen(fromJson(await chosen.text()));
      setFile(chosen.name);
      setFileProblem("");
      give({ until: undefined, step: undefined, follow: undefined });
    } catch (error) {
      setFileProblem(error instanceof SyntaxError ? "This file is not JSON." : String((error as Error).message));
    }
  };
  const pause = () => {
    setFrozen(frozen ? null : [...steps.items]);
    setFile("");
  };

  return (
    <Page
      title="Transactions"
      hint="Each step of a transaction as it happens, from left to right. Click a name to follow it, and a mark to read what it is."
      side={
        <>
          {followed && (
            <button type="button" onClick={() => give({ follow: undefined })}>
              Show all, not only <Text of={followed} />
            </button>
          )}
          <button type="button" aria-pressed={frozen !== null} onClick={pause}>
            {frozen ? "Go on" : "Pause"}
          </button>
          <button type="button" disabled={zoom <= ZOOMS[0]!} aria-label="Zoom out" onClick={() => give({ zoom: step(zoom, -1) })}>
            −
          </button>
          <button type="button" disabled={zoom >= ZOOMS.at(-1)!} aria-label="Zoom in" onClick={() => give({ zoom: step(zoom, 1) })}>
            +
          </button>
          <button type="button" onClick={clearSteps}>
            Clear
          </button>
        </>
      }
    >
      {given("scenario") && <Watched name={given("scenario")} />}
      {isOfBroker() && <Waiting />}
      <Card class="flush">
        {drawn.length === 0 ? (
          <Begin />
        ) : (
          <>
            <div ref={box}>
            <Timeline
              picture={picture}
              selected={selected}
              isFollowing={untilAt < 0 && frozen === null && selected < 0}
              onSelect={setSelected}
              onFollow={(follow) => give({ follow, until: undefined, step: undefined })}
            />
            </div>
            <div class="scrub">
              <label>
                <span>
                  Step {end} of {shown.length}
                  {given("until") && untilAt < 0 && " (the one of this address is not known here)"}
                </span>
                <input
                  type="range"
                  min={1}
                  max={shown.length}
                  value={end}
                  onInput={(event) => {
                    const at = Number(event.currentTarget.value);
                    give({ step: undefined, until: at === shown.length ? undefined : idOf(shown[at - 1]) });
                  }}
                />
              </label>
              <Exports box={box} picture={picture} steps={drawn} />
              <Legend />
            </div>
          </>
        )}
        <details class="open-file">
          <summary>Open saved steps</summary>
          <label>
            A file of <i>Save as JSON</i>, of any broker:{" "}
            <input type="file" accept=".json,application/json" onChange={(e) => void open(e.currentTarget.files?.[0])} />
          </label>
          {file && (
            <p role="status">
              These are the steps of <Text of={file} />. <i>Go on</i> shows those of this broker.
            </p>
          )}
          {fileProblem && (
            <span class="wrong" role="alert">
              {fileProblem}
            </span>
          )}
        </details>
      </Card>
      {drawn.length > 0 && <Steps steps={drawn} selected={selected} onSelect={setSelected} />}
    </Page>
  );
}

const step = (zoom: number, by: number): number => ZOOMS[ZOOMS.indexOf(zoom) + by] ?? 1;

/** A name for each step that stays the same: its time, and its place among those of this time. */
function idsOf(all: Step[]): Map<Step, string> {
  const ids = new Map<Step, string>();
  let [at, place] = [0, 0];
  for (const each of all) {
    place = each.at_ms === at ? place + 1 : 0;
    at = each.at_ms;
    ids.set(each, `${at}.${place}`);
  }
  return ids;
}

function Exports(props: { box: { current: HTMLDivElement | null }; picture: Picture; steps: Step[] }) {
  const svg = () => {
    const titles = Object.fromEntries(props.picture.headings.map((each) => [each.kind, TITLES[each.kind][0]]));
    return asSvg(props.box.current!.querySelector("svg")!, props.picture, titles);
  };
  return (
    <span class="actions exports" role="group" aria-label="Save what is shown">
      Save as
      <Button do={() => save(svg(), "image/svg+xml", "transactions.svg")}>SVG</Button>
      <Button do={async () => save(await asPng(svg(), props.picture.width), "image/png", "transactions.png")}>PNG</Button>
      <Button do={() => save(asJson(props.steps), "application/json", "transactions.json")}>JSON</Button>
    </span>
  );
}

function Begin() {
  return (
    <div class="begin">
      <p>No step yet. Begin a transaction with any client, or from a shell:</p>
      <pre>
        <code>echo 42 | fencepost produce -t orders --transactional-id payments</code>
      </pre>
      <ol>
        {PROTOCOL.map(([name, what]) => (
          <li key={name}>
            <b>{name}</b>: {what}
          </li>
        ))}
      </ol>
    </div>
  );
}

function Legend() {
  return (
    <details class="legend">
      <summary>What the marks mean</summary>
      <ol>
        {PROTOCOL.map(([name, what]) => (
          <li key={name}>
            <b>{name}</b>: {what}
          </li>
        ))}
      </ol>
      <p>
        A round mark is records with their offsets, a diamond is a marker. A striped bar waits for its marker: until then,
        consumers with <code>isolation.level=read_committed</code> get nothing after that offset.
      </p>
    </details>
  );
}

function Steps(props: { steps: Step[]; selected: number; onSelect: (at: number) => void }) {
  const first = Math.max(0, props.steps.length - LISTED);
  const listed = props.steps.slice(first).map((each, at) => ({ each, at: first + at })).reverse();
  return (
    <Card title="Steps" hint="The same in words, the newest first. The broker tells steps while a page like this one is open, and keeps the last of them.">
      <Table label="Steps" head={["Time", "Who", "What", "API or state"]}>
        {listed.map(({ each, at }) => (
          <tr key={at} class={at === props.selected ? "pick picked" : "pick"} onClick={() => props.onSelect(at)}>
            <td class="time">
              <button type="button" class="link" aria-pressed={at === props.selected} onClick={(e) => (e.stopPropagation(), props.onSelect(at))}>
                {timeOfDay(each.at_ms)}
              </button>
            </td>
            <td>
              <Text of={whoIs(each)} none={`producer ${each.producer_id}`} />
            </td>
            <td class={Object.keys(each.errors).length ? "wide wrong" : "wide"}>
              <Text of={sentence(each)} />
            </td>
            <td>{each.what === "state" ? <Tag tone={toneOf(each.state)}>{each.state}</Tag> : each.what === "marker" ? "WriteTxnMarkers" : each.api}</td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}

export function toneOf(state: string): "good" | "busy" | "bad" | "quiet" {
  if (state === "CompleteCommit") return "good";
  if (state === "CompleteAbort") return "bad";
  return state === "Ongoing" || state.startsWith("Prepare") ? "busy" : "quiet";
}

// -- what waits now ------------------------------------------------------------------------------

const EXPLAINED = 8;

function Waiting() {
  const listed = useAnswer<{ transactions: ListedTransaction[] }>("/v1/transactions", 1500);
  const open = (listed.data?.transactions ?? []).filter((each) => toneOf(each.state) === "busy");
  return (
    <Card
      title="Open transactions"
      hint="What each one waits for, and whom it blocks: consumers of committed records stop at the last stable offset (LSO), where the oldest open transaction of a partition begins."
      side={
        <>
          <Button title="The coordinator decides, and writes no marker until they are released" do={() => perform("hold-markers", {})}>
            Hold all markers
          </Button>
          <Button do={() => perform("release-markers", {})}>Release all markers</Button>
        </>
      }
    >
      <Wrong problem={listed.problem} />
      {listed.data && open.length === 0 && <Empty>No transaction is open: committed records can be read to the end.</Empty>}
      {open.slice(0, EXPLAINED).map((each) => (
        <Explained key={each.transactional_id} id={each.transactional_id} />
      ))}
      {open.length > EXPLAINED && <p class="hint">{many(open.length - EXPLAINED, "more open transaction")}.</p>}
    </Card>
  );
}

function Explained(props: { id: string }) {
  const url = path`/v1/transactions/${props.id}`;
  const { data, problem, again } = useAnswer<TransactionExplained>(url, 1500);
  if (!data) return <Wrong problem={problem} />;
  const isOngoing = data.state === "Ongoing";
  const held = data.markers?.some((each) => each.is_held);
  const act = (type: string, more: Record<string, unknown> = {}) => async () => {
    await perform(type, { transactional_id: props.id, ...more });
    again();
  };
  return (
    <article class="open-transaction">
      <header>
        <a href={linkTo("transactions", { follow: props.id })}>
          <Text of={props.id} />
        </a>
        <Tag tone={toneOf(data.state)}>{data.state}</Tag>
        <small>
          producer {data.producer_id}, epoch {data.producer_epoch}
          {data.client && (
            <>
              , client <Text of={data.client.client_id} />
              {data.client.is_connected ? "" : ", its connection is closed"}
            </>
          )}
        </small>
        <div class="actions">
          {held && (
            <Button tone="main" title="End all holds on markers" do={async () => (await perform("release-markers", {}), again())}>
              Release markers
            </Button>
          )}
          {isOngoing && (
            <Button title="Abort it now; its producer is fenced" do={act("time-out-transaction")}>
              Abort
            </Button>
          )}
          <Button title="Fence the producer, as Admin.fenceProducers does" tone="bad" do={act("fence-producer")}>
            Fence
          </Button>
        </div>
      </header>
      <p>{why(data)}</p>
      {data.partitions.length > 0 && (
        <Table label={`Partitions of ${props.id}`} head={["Partition", "Begins at", "LSO", "High watermark", "Who holds the LSO"]}>
          {data.partitions.map((each) => (
            <PartitionRow key={partitionName(each)} of={each} transaction={data} />
          ))}
        </Table>
      )}
    </article>
  );
}

function PartitionRow(props: { of: PartitionExplained; transaction: TransactionExplained }) {
  const { of, transaction } = props;
  // The coordinator's broker may have no replica of it, or an old one.
  const isElsewhere = of.leader_id !== transaction.coordinator_id;
  const { data } = useAnswer<PartitionExplained>(isElsewhere ? path`/v1/topics/${of.topic}/partitions/${of.partition}` : null, 2000);
  let told = data ?? of;
  if (told.holder && told.holder.producer_id === transaction.producer_id) {
    const { transactional_id, state } = transaction;
    told = { ...told, holder: { ...told.holder, transactional_id, state, hangs: false } };
  }
  return (
    <tr>
      <td>
        <a href={linkTo("topics", { topic: of.topic, partition: of.partition })}>
          <Text of={partitionName(of)} />
        </a>
      </td>
      <td class="number">{of.start_offset ?? told.holder?.start_offset ?? ""}</td>
      <td class="number">{told.last_stable_offset}</td>
      <td class="number">{told.high_watermark}</td>
      <td>
        <Holder of={told} />
      </td>
    </tr>
  );
}

function why(data: TransactionExplained): string {
  if (data.state === "Ongoing") {
    const left = data.ends_in_ms;
    const end = left === null ? "It has no timeout." : left > 0 ? `Its timeout aborts it in ${duration(left)}.` : "Its timeout is over.";
    const kept = data.kept_by;
    const who = kept ? `producer ${kept.producer_id}, epoch ${kept.producer_epoch}, which has kept it,` : "its producer";
    return `Waits for ${who} to commit or abort it. ${end}`;
  }
  const markers = data.markers ?? [];
  const held = markers.filter((each) => each.is_held);
  const outcome = data.state === "PrepareCommit" ? "commit" : "abort";
  const missing = `Waits for ${many(markers.length, `${outcome} marker`)}; no timeout ends this.`;
  if (held.length) return `${missing} Held back: ${held.map(partitionName).join(", ")}.`;
  return missing;
}

/** Buttons that end what holds a partition's last stable offset. */
export function HolderButtons(props: { of: PartitionExplained; again: () => void }) {
  const { holder, topic, partition, leader_id } = props.of;
  if (!holder) return null;
  const doing = (what: () => Promise<unknown>) => async () => (await what(), props.again());
  const id = holder.transactional_id;
  const isEnding = holder.state !== null && holder.state.startsWith("Prepare");
  return (
    <span class="actions">
      {isEnding && (
        <Button title="End all holds on markers" do={doing(() => perform("release-markers", {}))}>
          Release markers
        </Button>
      )}
      {id !== null && holder.state === "Ongoing" && (
        <Button title="Abort it now; its producer is fenced" do={doing(() => perform("time-out-transaction", { transactional_id: id }))}>
          Abort
        </Button>
      )}
      {holder.hangs && (
        <Button title="Write an abort marker, as Admin.abortTransaction does" do={doing(() => perform("abort-hanging-transaction", { topic, partition, producer_id: holder.producer_id }))}>
          Abort what hangs
        </Button>
      )}
      {id !== null && !holder.hangs && (
        <Button tone="bad" title="Fence the producer, as Admin.fenceProducers does" do={doing(() => perform("fence-producer", { transactional_id: id }))}>
          Fence
        </Button>
      )}
      {about.value?.kind === "cluster" && leader_id >= 0 && (
        <Button tone="bad" title="SIGKILL to the leader of this partition: as a crash" do={doing(() => tell("POST", path`/v1/processes/${leader_id}/kill`))}>
          Kill broker {leader_id}
        </Button>
      )}
    </span>
  );
}

export function Holder(props: { of: PartitionExplained }) {
  const { holder, lag } = props.of;
  if (!holder) return <span class="none">nobody: all committed records can be read</span>;
  return (
    <>
      {holder.transactional_id === null ? (
        <>producer {holder.producer_id}</>
      ) : (
        <a href={linkTo("transactions", { follow: holder.transactional_id })}>
          <Text of={holder.transactional_id} />
        </a>
      )}{" "}
      {holder.hangs ? <Tag tone="bad">hangs: no coordinator will end it</Tag> : holder.state && <Tag tone={toneOf(holder.state)}>{holder.state}</Tag>}
      <small> {many(lag, "record")} from there on cannot be read</small>
    </>
  );
}

// From steps to a picture: lanes from top to bottom, steps from left to right.
//
// The horizontal axis is the order of steps, not time: a transaction takes milliseconds, and the
// next one may begin minutes later. Pauses are drawn with their length.

import type { Step, StepPartition } from "../types";

export const ROW = 34;
export const HEADING = 22;
export const AXIS = 22;
const LETTER = 6.6;
const PAUSE_MS = 1000;
/** A request that waited for less is drawn without its wait. */
const SHORT_MS = 250;
const PAUSE_WIDTH = 64;
const HUES = 6;

export type LaneKind = "producer" | "coordinator" | "partition" | "group";

export interface Lane {
  key: string;
  kind: LaneKind;
  name: string;
  /** The id that is followed when this lane is chosen. */
  follow: string;
  y: number;
}

export interface Heading {
  kind: LaneKind;
  y: number;
}

export interface Column {
  step: Step;
  x: number;
  /** Milliseconds since the step before, if that is long. */
  pause: number;
}

export interface Arrow {
  column: number;
  from: number;
  to: number[];
  kind: "request" | "answer" | "marker";
  bad: boolean;
  hue: number;
}

/** A text at a lane, with the number of a protocol step if it is one. */
export interface Label {
  column: number;
  y: number;
  number: number;
  text: string;
  tone: "" | "bad" | "waits";
}

export interface Bar {
  column: number;
  x: number;
  end: number;
  y: number;
  text: string;
  number: number;
  kind: "Empty" | "Ongoing" | "Prepare" | "Commit" | "Abort" | "Dead" | "open" | "held" | "parked";
  hue: number;
}

export interface Mark {
  column: number;
  y: number;
  text: string;
  kind: "records" | "sent" | "refused" | "commit" | "abort" | "offsets";
  hue: number;
}

export interface Picture {
  lanes: Lane[];
  headings: Heading[];
  columns: Column[];
  arrows: Arrow[];
  labels: Label[];
  bars: Bar[];
  marks: Mark[];
  width: number;
  height: number;
}

/** The steps of the protocol, as they are numbered in the picture. */
export const PROTOCOL: [string, string][] = [
  ["Find coordinator", "the producer asks which broker keeps its transactional id"],
  ["Producer id", "the coordinator gives it an id and an epoch, and fences older producers"],
  ["Begin", "partitions are added to the transaction, before or with their first records"],
  ["Write", "records go to partitions, offsets to groups; readers of committed records wait"],
  ["Prepare", "the producer ends it; from now on the outcome cannot change"],
  ["Markers", "each partition gets a marker, and lets its readers go on"],
  ["Complete", "all markers are written; the next transaction may begin"],
];

const NUMBERS: Record<string, number> = {
  FindCoordinator: 1,
  InitProducerId: 2,
  AddPartitionsToTxn: 3,
  AddOffsetsToTxn: 3,
  Produce: 4,
  TxnOffsetCommit: 4,
  EndTxn: 5,
  Empty: 2,
  Ongoing: 3,
  PrepareCommit: 5,
  PrepareAbort: 5,
  CompleteCommit: 7,
  CompleteAbort: 7,
};

const TITLES: Record<LaneKind, number> = { producer: 0, coordinator: 1, partition: 2, group: 3 };

export const partitionName = (each: { topic: string; partition: number }): string =>
  `${each.topic}-${each.partition}`;

const producerOf = (step: Step): string => step.transactional_id ?? step.client_id ?? step.address;

const requestOf = (step: Step): string => `${step.broker} ${step.number}`;

/**
 * Prepares steps for the picture: brokers' steps in the order of time, without waits that were over
 * at once (for followers, for a disk), and markers, which know only a producer id, with the
 * transactional id that states had with it.
 */
export function prepare(steps: Step[]): Step[] {
  const answered = new Map<string, number>();
  for (const step of steps) if (step.what === "answer") answered.set(requestOf(step), step.at_ms);
  const isOver = (step: Step) => (answered.get(requestOf(step)) ?? Infinity) - step.at_ms < SHORT_MS;
  const kept = steps.filter((step) => step.what !== "waits" || !isOver(step));
  if (new Set(kept.map((step) => step.broker)).size > 1) kept.sort((a, b) => a.at_ms - b.at_ms);
  const ids = new Map<number, string>();
  return kept.map((step) => {
    if (step.transactional_id !== null) {
      if (step.producer_id >= 0) ids.set(step.producer_id, step.transactional_id);
      return step;
    }
    const known = step.what === "marker" ? ids.get(step.producer_id) : undefined;
    return known === undefined ? step : { ...step, transactional_id: known };
  });
}

export function isAbout(step: Step, followed: string): boolean {
  return (
    step.transactional_id === followed ||
    step.client_id === followed ||
    step.group === followed ||
    step.partitions.some((each) => partitionName(each) === followed)
  );
}

/** The lanes of a request's receivers. */
function targets(step: Step): { kind: LaneKind; name: string; of?: StepPartition }[] {
  if (step.api === "Produce")
    return step.partitions.map((of) => ({ kind: "partition" as const, name: partitionName(of), of }));
  if (step.api === "TxnOffsetCommit" || step.api === "OffsetCommit")
    return step.group === null ? [] : [{ kind: "group", name: step.group }];
  return step.transactional_id === null ? [] : [{ kind: "coordinator", name: step.transactional_id }];
}

function rangeOf(each: StepPartition): string {
  if (each.offset < 0) return "";
  return each.records > 1 ? `${each.offset}–${each.offset + each.records - 1}` : `${each.offset}`;
}

export function draw(steps: Step[], zoom: number): Picture {
  const { lanes, headings, height } = makeLanes(steps);
  const lane = (kind: LaneKind, name: string) => lanes.get(`${kind}:${name}`)!;
  const hues = new Map<string, number>();
  const hueOf = (name: string | null): number => {
    if (name === null) return -1;
    if (!hues.has(name)) hues.set(name, hues.size % HUES);
    return hues.get(name)!;
  };
  const picture: Picture = {
    lanes: [...lanes.values()], headings, columns: [], arrows: [], labels: [], bars: [], marks: [],
    width: 0, height,
  };
  const { columns, arrows, labels, bars, marks } = picture;
  const sent = new Map<string, Mark[]>();
  const states = new Map<string, Bar>();
  const open = new Map<string, Bar>();
  const parked = new Map<string, Bar>();
  let x = 16;
  let before = 0;

  const close = (bar: Bar | undefined, at: number) => {
    if (bar) bar.end = at;
  };

  steps.forEach((step, column) => {
    const pause = before && step.at_ms - before > PAUSE_MS ? step.at_ms - before : 0;
    before = step.at_ms;
    if (pause) x += PAUSE_WIDTH * zoom;
    columns.push({ step, x, pause });
    const hue = hueOf(step.transactional_id);
    const number = NUMBERS[step.what === "state" ? step.state : step.api] ?? 0;
    let text = "";

    if (step.what === "request") {
      const y = lane("producer", producerOf(step)).y;
      text = step.api === "EndTxn" ? `EndTxn ${step.state}` : step.api;
      labels.push({ column, y, number, text, tone: "" });
      const to = targets(step);
      arrows.push({ column, from: y, to: to.map((each) => lane(each.kind, each.name).y), kind: "request", bad: false, hue });
      const made: Mark[] = to.flatMap(({ kind, name, of }) => {
        const at = lane(kind, name).y;
        if (of) {
          if (step.transactional_id !== null) openAt(of, column, x, hue, step.transactional_id);
          return [{ column, y: at, text: "", kind: "sent" as const, hue }];
        }
        return kind === "group" ? [{ column, y: at, text: "offsets", kind: "sent" as const, hue }] : [];
      });
      marks.push(...made);
      sent.set(requestOf(step), made);
    } else if (step.what === "waits") {
      const y = lane("producer", producerOf(step)).y;
      const bar: Bar = { column, x, end: -1, y, text: "waits", number: 0, kind: "parked", hue };
      parked.set(requestOf(step), bar);
      bars.push(bar);
      text = "waits";
    } else if (step.what === "answer") {
      const y = lane("producer", producerOf(step)).y;
      text = Object.keys(step.errors).join(", ");
      const bad = text !== "";
      close(parked.get(requestOf(step)), x);
      if (step.api === "EndTxn" && !bad && !states.has(step.transactional_id ?? "")) {
        // A proxy sees neither states nor markers: the answer is the last that it knows.
        for (const [key, bar] of open) {
          if (!key.endsWith(` ${step.transactional_id}`)) continue;
          close(bar, x);
          open.delete(key);
        }
      }
      const to = targets(step);
      const from = to.length ? lane(to[0]!.kind, to[0]!.name).y : y;
      arrows.push({ column, from, to: [y], kind: "answer", bad, hue });
      if (bad) labels.push({ column, y, number: 0, text, tone: "bad" });
      sent.get(requestOf(step))?.forEach((mark, at) => {
        mark.kind = bad ? "refused" : step.api === "Produce" ? "records" : "offsets";
        if (step.api === "Produce" && !bad) mark.text = rangeOf(step.partitions[at]!);
      });
    } else if (step.what === "state" && step.transactional_id !== null) {
      const y = lane("coordinator", step.transactional_id).y;
      close(states.get(step.transactional_id), x);
      const kind = step.state.startsWith("Prepare")
        ? "Prepare"
        : step.state.startsWith("Complete")
          ? (step.state.slice(8) as "Commit" | "Abort")
          : (step.state as "Empty" | "Ongoing" | "Dead");
      const bar: Bar = { column, x, end: -1, y, text: step.state, number, kind, hue };
      states.set(step.transactional_id, bar);
      bars.push(bar);
      text = step.state;
      if (kind === "Ongoing") for (const each of step.partitions) openAt(each, column, x, hue, step.transactional_id);
      if (kind === "Prepare") for (const each of step.partitions) holdAt(each, column, x, hue, step.transactional_id);
    } else if (step.what === "marker") {
      const each = step.partitions[0]!;
      const y = lane("partition", partitionName(each)).y;
      text = `${step.state} ${each.offset}`;
      marks.push({ column, y, text, kind: step.state === "commit" ? "commit" : "abort", hue });
      if (step.transactional_id !== null) {
        const from = lanes.get(`coordinator:${step.transactional_id}`);
        if (from) arrows.push({ column, from: from.y, to: [y], kind: "marker", bad: false, hue });
        const key = `${partitionName(each)} ${step.transactional_id}`;
        close(open.get(key), x);
        open.delete(key);
      }
    }
    const circle = number ? 18 : 0;
    x += Math.max(20, text.length * LETTER + circle + 14) * zoom;
  });

  function openAt(each: StepPartition, column: number, at: number, hue: number, id: string): void {
    const key = `${partitionName(each)} ${id}`;
    if (open.has(key)) return;
    const y = lane("partition", partitionName(each)).y;
    const bar: Bar = { column, x: at, end: -1, y, text: "", number: 0, kind: "open", hue };
    open.set(key, bar);
    bars.push(bar);
  }

  function holdAt(each: StepPartition, column: number, at: number, hue: number, id: string): void {
    const key = `${partitionName(each)} ${id}`;
    close(open.get(key), at);
    const y = lane("partition", partitionName(each)).y;
    const bar: Bar = { column, x: at, end: -1, y, text: "waits for its marker", number: 0, kind: "held", hue };
    open.set(key, bar);
    bars.push(bar);
  }

  picture.width = x + 60;
  for (const bar of bars) if (bar.end < 0) bar.end = picture.width - 12;
  return picture;
}

function makeLanes(steps: Step[]) {
  const found = new Map<string, Omit<Lane, "y">>();
  const add = (kind: LaneKind, name: string, follow = name) => {
    const key = `${kind}:${name}`;
    if (!found.has(key)) found.set(key, { key, kind, name, follow });
  };
  for (const step of steps) {
    if (step.what === "state") add("coordinator", step.transactional_id!);
    else if (step.what === "marker") add("partition", partitionName(step.partitions[0]!));
    else {
      add("producer", producerOf(step));
      for (const each of targets(step)) add(each.kind, each.name);
    }
    if (step.what === "state") for (const each of step.partitions) add("partition", partitionName(each));
  }
  const sorted = [...found.values()].sort(
    (a, b) =>
      TITLES[a.kind] - TITLES[b.kind] ||
      (a.kind === "partition" ? a.name.localeCompare(b.name, "en", { numeric: true }) : 0),
  );
  const lanes = new Map<string, Lane>();
  const headings: Heading[] = [];
  let y = AXIS;
  let kind = "";
  for (const each of sorted) {
    if (each.kind !== kind) {
      kind = each.kind;
      headings.push({ kind: each.kind, y });
      y += HEADING;
    }
    lanes.set(each.key, { ...each, y: y + ROW / 2 });
    y += ROW;
  }
  return { lanes, headings, height: y + 8 };
}

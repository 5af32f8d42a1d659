// What the page knows: events as they come, and answers that are asked for again and again.

import { computed, type Signal, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { ask, ProblemError, readEvents, tokenWanted } from "./api";
import type { About, FaultFired, LogLine, RequestSeen, Step } from "./types";

/** So many of the last events of each kind are kept. */
export const KEPT = { request: 2000, step: 4000, log: 500, fault: 500 };
const AGAIN_MS = 1500;

/** A list that only grows at its end and forgets its beginning; `version` changes with it. */
class Kept<T> {
  items: T[] = [];
  version: Signal<number> = signal(0);
  constructor(private readonly most: number) {}

  add(item: T): void {
    this.items.push(item);
    if (this.items.length > this.most * 1.2) this.items = this.items.slice(-this.most);
    touched.add(this.version);
    if (!isDue) {
      isDue = true;
      setTimeout(tellAll, 100);
    }
  }

  clear(): void {
    this.items = [];
    this.version.value++;
  }
}

// Pages are drawn again ten times a second at most, however many events come.
const touched = new Set<Signal<number>>();
let isDue = false;
function tellAll(): void {
  isDue = false;
  for (const each of touched) each.value++;
  touched.clear();
}

export const requests = new Kept<RequestSeen>(KEPT.request);
export const steps = new Kept<Step>(KEPT.step);
export const logLines = new Kept<LogLine>(KEPT.log);
export const faultsFired = new Kept<FaultFired>(KEPT.fault);
/** By API, how many requests the stream has left out: of many requests it tells a sample. */
export const leftOut = signal<Record<string, number>>({});
/** How many events were lost because this page read too slowly. */
export const missed = signal(0);
export const lost = computed(() => missed.value + sum(leftOut.value));
const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((all, each) => all + each, 0);
const SECOND_MS = 1000;
let lately: { at: number; count: number }[] = [];
/** How many requests the last second's samples have left out. */
export function leftOutLately(): number {
  lately = lately.filter((each) => each.at > performance.now() - SECOND_MS);
  return lately.reduce((all, each) => all + each.count, 0);
}

function leaveOut(count: number, requests: Record<string, number>): void {
  const all = { ...leftOut.value };
  for (const [api, each] of Object.entries(requests)) all[api] = (all[api] ?? 0) + each;
  leftOut.value = all;
  lately.push({ at: performance.now(), count: sum(requests) });
  leftOutLately();
  missed.value += count - sum(requests);
}
/** What is controlled; undefined until it is known. */
export const about = signal<About | undefined>(undefined);
/** Whether there is a broker to be asked for what is now; a proxy and a recording have none. */
export const isOfBroker = (): boolean => /broker|controller|cluster/.test(about.value?.kind ?? "");
export const isLive = signal(false);
export const whyNot = signal("");

function put(event: any): void {
  if (event.type === "request") requests.add(event);
  else if (event.type === "step") steps.add(event);
  else if (event.type === "log") logLines.add(event);
  else if (event.type === "fault") faultsFired.add(event);
  else if (event.type === "lost") leaveOut(event.lost, event.requests);
}

let stream: AbortController | null = null;
let kindsNow = "";

/** Reads these kinds of events from now on; a page asks only for what it shows. */
export function listen(kinds: string): void {
  if (kinds === kindsNow) return;
  kindsNow = kinds;
  stream?.abort();
  stream = new AbortController();
  void keepReading(kinds, stream.signal);
}

async function keepReading(kinds: string, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      if (!tokenWanted.value) {
        about.value ??= await ask<About>("/v1/about");
        // The first call begins to keep requests, so that the page of requests has them later.
        await ask("/v1/requests?last=0");
        isLive.value = true;
        const onOpen = () => void (kinds.includes("step") && bringSteps());
        await readEvents(kinds, put, onOpen, stop);
      }
    } catch (error) {
      if (stop.aborted) return;
      whyNot.value = error instanceof ProblemError ? error.problem.detail : String(error);
    }
    isLive.value = false;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** Brings the steps from before this page was opened, once the stream tells all that come later. */
async function bringSteps(): Promise<void> {
  try {
    const told = await ask<{ steps: Step[] }>("/v1/steps");
    const known = new Set(steps.items.map((each) => JSON.stringify(each)));
    const earlier = told.steps.filter((each) => !known.has(JSON.stringify(each)));
    if (earlier.length === 0 || hasCleared) return;
    steps.items = [...earlier, ...steps.items].sort((a, b) => a.at_ms - b.at_ms);
    steps.version.value++;
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
  }
}

let hasCleared = false;
/** Forgets the steps, also those that the broker keeps. */
export function clearSteps(): void {
  hasCleared = true;
  steps.clear();
}

export interface Answer<T> {
  data: T | undefined;
  problem: ProblemError | undefined;
  again: () => void;
}

/** Asks a path now, and again every so often while the page is visible. */
export function useAnswer<T>(path: string | null, everyMs = 2000): Answer<T> {
  const [state, setState] = useState<{ path: string | null; data?: T; problem?: ProblemError }>({
    path: null,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === null) return;
    let isOver = false;
    let timer = 0;
    const go = async () => {
      if (!document.hidden && !tokenWanted.value) {
        try {
          const data = await ask<T>(path);
          if (!isOver) setState({ path, data });
        } catch (problem) {
          if (!isOver && problem instanceof ProblemError)
            setState((old) => ({ path, data: old.path === path ? old.data : undefined, problem }));
        }
      }
      if (!isOver && everyMs) timer = window.setTimeout(go, everyMs);
    };
    void go();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path, everyMs, turn, tokenWanted.value]);
  const isOfPath = state.path === path;
  return {
    data: isOfPath ? state.data : undefined,
    problem: isOfPath ? state.problem : undefined,
    again: () => setTurn((old) => old + 1),
  };
}

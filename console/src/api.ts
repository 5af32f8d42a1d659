// The control port, as this page asks it: JSON, the token in a header, and events read by fetch.

import { signal } from "@preact/signals";

/** What the control port says when it refuses something (RFC 9457). */
export interface Problem {
  title: string;
  status: number;
  detail: string;
  where?: string;
  advice?: string;
}

export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

const TOKEN = "fencepost-token";
let token = sessionStorage.getItem(TOKEN) ?? "";

/** Why a token is asked for; empty while none is needed. */
export const tokenWanted = signal("");

export function useToken(given: string): void {
  token = given.trim();
  sessionStorage.setItem(TOKEN, token);
  tokenWanted.value = "";
}

async function send(method: string, path: string, body?: unknown, signal?: AbortSignal) {
  const headers: Record<string, string> = {};
  if (token) headers["Authorization"] = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const content = body === undefined ? undefined : JSON.stringify(body);
  let answer: Response;
  try {
    answer = await fetch(path, { method, headers, body: content, signal, cache: "no-store" });
  } catch (error) {
    if (signal?.aborted) throw error;
    const detail = "the control port does not answer: has the broker stopped?";
    throw new ProblemError({ title: "Unreachable", status: 0, detail });
  }
  if (!answer.ok) {
    const problem: Problem = await answer.json();
    if (problem.status === 401) tokenWanted.value = problem.detail;
    throw new ProblemError(problem);
  }
  return answer;
}

export async function ask<T>(path: string): Promise<T> {
  return (await send("GET", path)).json();
}

export async function tell<T = void>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await send(method, path, method === "POST" ? (body ?? {}) : undefined);
  return answer.status === 204 ? (undefined as T) : answer.json();
}

/** Performs an operation, such as release-markers. */
export function perform(type: string, given: Record<string, unknown>): Promise<unknown> {
  return tell("POST", "/v1/operations", { type, ...given });
}

/** Writes a path; each value is one part of it, whatever characters it has. */
export function path(strings: TemplateStringsArray, ...values: (string | number)[]): string {
  return String.raw({ raw: strings }, ...values.map((each) => encodeURIComponent(each)));
}

/** Reads the stream of events until it ends; EventSource could not send the token. */
export async function readEvents(
  kinds: string,
  onEvent: (event: any) => void,
  onOpen: () => void,
  stop: AbortSignal,
): Promise<void> {
  const answer = await send("GET", `/v1/events?kinds=${kinds}`, undefined, stop);
  onOpen();
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      const data = block.split("\n").find((line) => line.startsWith("data: "));
      if (data) onEvent(JSON.parse(data.slice(6)));
    }
  }
}

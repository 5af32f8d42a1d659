// The requests of clients as they come; one that is chosen shows its bytes and what went wrong.

import { useEffect, useState } from "preact/hooks";

import { ask, path, ProblemError, tell } from "../api";
import { decode, Dissected, type Node } from "../bytes";
import { give, given, linkTo } from "../route";
import { about, KEPT, leftOut, leftOutLately, missed, requests, useAnswer } from "../store";
import { dateAndTime, many, size, timeOfDay, took } from "../text";
import type { RequestSeen } from "../types";
import { Button, Card, Empty, Field, Page, Tag, Text, Wrong } from "../ui";
import { LongTable } from "../virtual";

const ROW = 30;
const SECOND_MS = 1000;

function isWanted(each: RequestSeen): boolean {
  const api = given("api").toLowerCase();
  const client = given("client").toLowerCase();
  if (api && !each.api.toLowerCase().includes(api)) return false;
  if (client && !(each.client_id ?? "").toLowerCase().includes(client)) return false;
  if (given("only") === "errors") return each.dropped !== "" || Object.keys(each.errors ?? {}).length > 0;
  if (given("only") === "waited") return each.has_waited;
  return true;
}

const keyOf = (each: RequestSeen): string => `${each.broker}-${each.number}`;
/** Brings the requests from before this page was opened, and begins to keep bytes. */
async function bringEarlier(): Promise<void> {
  try {
    const told = await ask<{ requests: RequestSeen[] }>("/v1/requests?last=200");
    const known = new Set(requests.items.map(keyOf));
    const earlier = told.requests.filter((each) => each.took_us !== null && !known.has(keyOf(each)));
    requests.items = [...earlier, ...requests.items];
    requests.version.value++;
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
  }
}

export function RequestsPage() {
  const [paused, setPaused] = useState<RequestSeen[] | null>(null);
  useEffect(() => void bringEarlier(), []);
  void requests.version.value;
  const all = paused ?? requests.items;
  const shown = all.filter(isWanted).reverse();
  const picked = all.find((each) => keyOf(each) === given("request"));
  const pick = (each: RequestSeen) => give({ request: given("request") === keyOf(each) ? undefined : keyOf(each) });
  return (
    <Page
      title="Requests"
      hint="Each line is a request that a client sent, with what it was answered. The newest is first. Choose one to see its bytes."
      side={
        <>
          <button type="button" aria-pressed={paused !== null} onClick={() => setPaused(paused ? null : [...requests.items])}>
            {paused ? "Go on" : "Pause"}
          </button>
          <button
            type="button"
            onClick={() => {
              requests.clear();
              leftOut.value = {};
            }}
          >
            Clear
          </button>
        </>
      }
    >
      {picked && <Picked key={keyOf(picked)} request={picked} />}
      <Card>
        <div class="filters">
          <Field label="API">
            <input value={given("api")} placeholder="Produce" onInput={(e) => give({ api: e.currentTarget.value })} />
          </Field>
          <Field label="Client id">
            <input value={given("client")} onInput={(e) => give({ client: e.currentTarget.value })} />
          </Field>
          <Field label="Show">
            <select value={given("only")} onChange={(e) => give({ only: e.currentTarget.value })}>
              <option value="">all</option>
              <option value="errors">with errors</option>
              <option value="waited">that waited</option>
            </select>
          </Field>
          <p class="hint">
            {shown.length.toLocaleString("en")} of the last {all.length.toLocaleString("en")}
            {rateOf(all)}
          </p>
        </div>
        <LeftOut />
        {shown.length === 0 ? (
          <Empty>
            No request yet. Connect a client, for example <code>fencepost produce -t orders</code>.
          </Empty>
        ) : (
          <LongTable label="Requests" row={ROW} items={shown} head={["Time", "API", "Client id", "From", "Took", "Sent", "Answered", "Errors"]}>
            {(each) => (
              <tr key={keyOf(each)} class={each === picked ? "pick picked" : "pick"} onClick={() => pick(each)}>
                <td class="time" title={dateAndTime(each.at_ms)}>
                  {timeOfDay(each.at_ms)}
                </td>
                <td>
                  <button type="button" class="link" onClick={(e) => (e.stopPropagation(), pick(each))}>
                    {each.api}
                  </button>{" "}
                  <small>v{each.version}</small>
                </td>
                <td>
                  <Text of={each.client_id} />
                </td>
                <td class="time" title={each.software}>
                  {each.address}
                </td>
                <td class="number">
                  {each.has_waited && <Tag tone="busy">waited</Tag>} {took(each.took_us)}
                </td>
                <td class="number">{size(each.request_bytes)}</td>
                <td class="number">{size(each.answer_bytes)}</td>
                <td>
                  {Object.entries(each.errors ?? {}).map(([name, count]) => (
                    <Tag key={name} tone="bad">
                      {name}
                      {count > 1 ? ` × ${count}` : ""}
                    </Tag>
                  ))}
                  {each.dropped && <Tag tone="bad">closed: {each.dropped}</Tag>}
                </td>
              </tr>
            )}
          </LongTable>
        )}
      </Card>
    </Page>
  );
}

/** How many requests the last second had. */
function rateOf(all: RequestSeen[]): string {
  const last = all.at(-1);
  if (!last) return "";
  let count = 0;
  while (count < all.length && all[all.length - 1 - count]!.at_ms > last.at_ms - SECOND_MS) count++;
  const isMore = count === all.length && count >= KEPT.request;
  return `, ${isMore ? "more than " : ""}${many(count + leftOutLately(), "request")} in the last second`;
}

/** The requests that are not in the list, so that nobody takes the list for all of them. */
function LeftOut() {
  const counts = Object.entries(leftOut.value).sort((a, b) => b[1] - a[1]);
  if (counts.length === 0 && missed.value === 0) return null;
  return (
    <p class="left-out">
      {counts.length > 0 && "When there are many requests, a sample of each API is listed. Left out: "}
      {counts.map(([api, count]) => (
        <Tag key={api} tone="busy">
          {api} {count.toLocaleString("en")}
        </Tag>
      ))}
      {missed.value > 0 && ` ${many(missed.value, "event")} lost: they came faster than this page could read.`}
    </p>
  );
}

interface Bytes {
  api: string;
  version: number;
  request: string;
  request_tree: Node;
  answer: string;
  answer_tree: Node | null;
}

function Picked(props: { request: RequestSeen }) {
  const each = props.request;
  const broker = about.value?.kind === "cluster" ? `?broker=${each.broker}` : "";
  const { data, problem } = useAnswer<Bytes>(path`/v1/requests/${each.number}/bytes` + broker, 0);
  const errors = Object.keys(each.errors ?? {});
  return (
    <Card
      title={
        <>
          {each.api} v{each.version} of <Text of={each.client_id} none={each.address} />
        </>
      }
      hint={`At ${dateAndTime(each.at_ms)}, answered after ${took(each.took_us)}${each.has_waited ? ", after it had waited" : ""}.`}
      side={
        <>
          {about.value?.kind !== "recording" && <NextTime request={each} />}
          <button type="button" onClick={() => give({ request: undefined })}>
            Close
          </button>
        </>
      }
    >
      {errors.map((name) => (
        <Meaning key={name} name={name} />
      ))}
      <Wrong problem={problem} />
      {data && <Dissected title="Request" bytes={decode(data.request)} tree={data.request_tree} />}
      {data?.answer_tree && <Dissected title="Answer" bytes={decode(data.answer)} tree={data.answer_tree} />}
    </Card>
  );
}

interface ErrorMeaning {
  code: number;
  name: string;
  retriable: boolean;
  about: string;
  hint: string;
}

/** What an error means, and what to do about it. */
function Meaning(props: { name: string }) {
  const { data } = useAnswer<{ errors: ErrorMeaning[] }>("/v1/errors", 0);
  const found = data?.errors.find((each) => each.name === props.name);
  if (!found) return null;
  return (
    <p class="meaning">
      <Tag tone="bad">
        {found.name} ({found.code})
      </Tag>{" "}
      {found.about} <b>What to do:</b> {found.hint} {found.retriable ? "Clients try again." : ""}
    </p>
  );
}

const LIKELY: Record<string, string> = {
  Produce: "NOT_LEADER_OR_FOLLOWER",
  Fetch: "NOT_LEADER_OR_FOLLOWER",
  EndTxn: "CONCURRENT_TRANSACTIONS",
  InitProducerId: "NOT_COORDINATOR",
  AddPartitionsToTxn: "CONCURRENT_TRANSACTIONS",
  JoinGroup: "NOT_COORDINATOR",
};

/** Adds a fault rule that answers the next such request with an error. */
function NextTime(props: { request: RequestSeen }) {
  const { api, client_id } = props.request;
  const [error, setError] = useState(LIKELY[api] ?? "COORDINATOR_NOT_AVAILABLE");
  const { data } = useAnswer<{ errors: ErrorMeaning[] }>("/v1/errors", 0);
  const add = async () => {
    const match = { api, ...(client_id === null ? {} : { client_id }) };
    await tell("POST", "/v1/faults", { match, act: { type: "error", code: error }, times: 1 });
    location.hash = linkTo("faults");
  };
  return (
    <>
      <label class="inline">
        Next time, answer{" "}
        <select value={error} onChange={(e) => setError(e.currentTarget.value)}>
          {(data?.errors ?? []).map((each) => (
            <option key={each.code}>{each.name}</option>
          ))}
        </select>
      </label>
      <Button do={add} title="Adds a fault rule for the next request of this API and client">
        Add rule
      </Button>
    </>
  );
}

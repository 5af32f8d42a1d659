// The requests of clients as they come.

import { useState } from "preact/hooks";

import { give, given } from "../route";
import { requests } from "../store";
import { dateAndTime, size, timeOfDay, took } from "../text";
import type { RequestSeen } from "../types";
import { Card, Empty, Field, Page, Table, Tag, Text } from "../ui";

const SHOWN = 300;

function isWanted(each: RequestSeen): boolean {
  const api = given("api").toLowerCase();
  const client = given("client").toLowerCase();
  if (api && !each.api.toLowerCase().includes(api)) return false;
  if (client && !(each.client_id ?? "").toLowerCase().includes(client)) return false;
  if (given("only") === "errors") return each.dropped !== "" || Object.keys(each.errors ?? {}).length > 0;
  if (given("only") === "waited") return each.has_waited;
  return true;
}

export function RequestsPage() {
  const [paused, setPaused] = useState<RequestSeen[] | null>(null);
  void requests.version.value;
  const all = paused ?? requests.items;
  const shown = all.filter(isWanted).slice(-SHOWN).reverse();
  return (
    <Page
      title="Requests"
      hint="Each line is a request that a client sent, with what it was answered. The newest is first."
      side={
        <>
          <button type="button" aria-pressed={paused !== null} onClick={() => setPaused(paused ? null : [...requests.items])}>
            {paused ? "Go on" : "Pause"}
          </button>
          <button type="button" onClick={() => requests.clear()}>
            Clear
          </button>
        </>
      }
    >
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
            {shown.length.toLocaleString("en")} of {all.length.toLocaleString("en")}
          </p>
        </div>
        {shown.length === 0 ? (
          <Empty>
            No request yet. Connect a client, for example <code>fencepost produce -t orders</code>.
          </Empty>
        ) : (
          <Table label="Requests" head={["Time", "API", "Client id", "From", "Took", "Sent", "Answered", "Errors"]}>
            {shown.map((each) => (
              <tr key={`${each.broker}-${each.number}`}>
                <td class="time" title={dateAndTime(each.at_ms)}>
                  {timeOfDay(each.at_ms)}
                </td>
                <td>
                  {each.api} <small>v{each.version}</small>
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
            ))}
          </Table>
        )}
      </Card>
    </Page>
  );
}

// Who had which partition when: a row for each partition, a column for each change of the group.

import { useEffect } from "preact/hooks";

import { path } from "../api";
import { useAnswer } from "../store";
import { dateAndTime, many, timeOfDay, visible } from "../text";
import { Card, Empty, Table, Text, Wrong } from "../ui";

interface Then {
  at_ms: number;
  epoch: number;
  members: { member_id: string; client_id: string; epoch: number; partitions: { topic: string; partition: number }[] }[];
}

const COLUMNS = 24;
const ROWS = 60;
const HUES = 6;

interface Cell {
  /** The members that have it; two, while one still has to give it up. */
  owners: Then["members"];
  span: number;
}

function cellsOf(partition: string, epochs: Then[]): Cell[] {
  const cells: Cell[] = [];
  for (const epoch of epochs) {
    const owners = epoch.members.filter((each) => each.partitions.some((at) => `${at.topic}-${at.partition}` === partition));
    const before = cells.at(-1);
    const ids = (of: Then["members"]) => of.map((each) => each.member_id).join(" ");
    if (before && ids(before.owners) === ids(owners)) before.span++;
    else cells.push({ owners, span: 1 });
  }
  return cells;
}

/** `now` changes when the group has: then its history is asked for again. */
export function History(props: { group: string; now: string }) {
  const { data, problem, again } = useAnswer<{ epochs: Then[] }>(path`/v1/groups/${props.group}/history`, 0);
  useEffect(again, [props.now]);
  const epochs = (data?.epochs ?? []).slice(-COLUMNS);
  const hues = new Map<string, number>();
  for (const each of (data?.epochs ?? []).flatMap((epoch) => epoch.members))
    if (!hues.has(each.member_id)) hues.set(each.member_id, hues.size % HUES);
  const partitions = [
    ...new Set(epochs.flatMap((each) => each.members.flatMap((member) => member.partitions.map((at) => `${at.topic}-${at.partition}`)))),
  ].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const left = [
    data && data.epochs.length > COLUMNS ? `the last ${COLUMNS} of ${many(data.epochs.length, "change")}` : "",
    partitions.length > ROWS ? `${ROWS} of ${many(partitions.length, "partition")}` : "",
  ].filter(Boolean);
  return (
    <Card
      title="Who read which partition"
      hint={`Each column is a generation or epoch of the group, with its number and time, as the coordinator's log has it. ${left.length ? `Shown: ${left.join(", ")}.` : ""}`}
    >
      <Wrong problem={problem} />
      {data && partitions.length === 0 ? (
        <Empty>No member has had a partition yet.</Empty>
      ) : (
        <Table
          label="Who read which partition"
          class="history"
          head={[
            "Partition",
            ...epochs.map((each) => (
              <span title={dateAndTime(each.at_ms)}>
                {each.epoch} <small>{timeOfDay(each.at_ms).slice(0, 8)}</small>
              </span>
            )),
          ]}
        >
          {partitions.slice(0, ROWS).map((partition) => (
            <tr key={partition}>
              <th scope="row">
                <Text of={partition} />
              </th>
              {cellsOf(partition, epochs).map((cell, at) => (
                <td key={at} colSpan={cell.span} class={cell.owners.length ? `had hue${hues.get(cell.owners[0]!.member_id)}` : ""}>
                  {cell.owners.map((each) => (
                    <span key={each.member_id} class="owner" title={visible(each.member_id)}>
                      <Text of={each.client_id} none={each.member_id} />
                    </span>
                  ))}
                </td>
              ))}
            </tr>
          ))}
          {epochs.some((each) => each.members.some((member) => member.epoch < each.epoch)) && (
          <tr>
            <th scope="row">not there yet</th>
            {epochs.map((each, at) => (
              <td key={at}>
                {each.members
                  .filter((member) => member.epoch < each.epoch)
                  .map((member) => (
                    <span key={member.member_id} class="owner" title={visible(member.member_id)}>
                      <Text of={member.client_id} none={member.member_id} /> <small>{member.epoch}</small>
                    </span>
                  ))}
              </td>
            ))}
          </tr>
          )}
        </Table>
      )}
    </Card>
  );
}

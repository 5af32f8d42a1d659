// Consumer groups: who reads which partitions, and how far.

import { path, perform } from "../api";
import { History } from "../groups/history";
import { given, linkTo } from "../route";
import { useAnswer } from "../store";
import { duration, many } from "../text";
import type { PartitionExplained } from "../types";
import { Button, Card, Empty, Page, Table, Tag, Text, Wrong } from "../ui";
import { Holder } from "./transactions";

interface Listed {
  group_id: string;
  type: string;
  state: string;
}

interface Member {
  member_id: string;
  group_instance_id: string | null;
  client_id: string;
  host: string;
  subscribed_topics: string[];
  assignment: { topic: string; partition: number }[];
  member_epoch: number | null;
}

interface Group extends Listed {
  assignor: string;
  group_epoch: number | null;
  members: Member[];
  offsets: { topic: string; partition: number; offset: number; log_end_offset: number | null; lag: number | null }[];
  pending: { topic: string; partition: number; offset: number; producer_id: number }[];
  rebalance: { waited_ms: number; members: { member_id: string; why: string }[] } | null;
}

const tone = (state: string): "good" | "busy" | "quiet" => (state === "Stable" ? "good" : /Empty|Dead/.test(state) ? "quiet" : "busy");

export function GroupsPage() {
  const { data, problem } = useAnswer<{ groups: Listed[] }>("/v1/groups", 2000);
  const chosen = given("group") || data?.groups[0]?.group_id;
  return (
    <Page title="Groups" hint="The members of a consumer group share the partitions of their topics, and commit how far they have read.">
      <Wrong problem={problem} />
      {data && data.groups.length === 0 ? (
        <Card>
          <Empty>
            No group yet. Begin one, for example <code>fencepost consume -t orders --group billing</code>.
          </Empty>
        </Card>
      ) : (
        <div class="columns">
          <Card title={many(data?.groups.length ?? 0, "group")}>
            <ul class="names">
              {(data?.groups ?? []).map((each) => (
                <li key={each.group_id}>
                  <a href={linkTo("groups", { group: each.group_id })} aria-current={each.group_id === chosen ? "true" : undefined}>
                    <Text of={each.group_id} />
                    <Tag tone={tone(each.state)}>{each.state}</Tag>
                  </a>
                </li>
              ))}
            </ul>
          </Card>
          <div>{chosen && <GroupShown key={chosen} id={chosen} />}</div>
        </div>
      )}
    </Page>
  );
}

function GroupShown(props: { id: string }) {
  const { data, problem, again } = useAnswer<Group>(path`/v1/groups/${props.id}`, 1500);
  if (!data) return <Wrong problem={problem} />;
  const doing = (type: string, more = {}) => async () => {
    await perform(type, { group: props.id, ...more });
    again();
  };
  const readers = new Map(data.members.flatMap((each) => each.assignment.map((at) => [`${at.topic}-${at.partition}`, each])));
  const changed = JSON.stringify([data.state, data.group_epoch, data.members]);
  const behind = data.offsets.filter((each) => (each.lag ?? 0) > 0);
  const lag = data.offsets.reduce((sum, each) => sum + (each.lag ?? 0), 0);
  return (
    <>
      <Card
        title={
          <>
            <Text of={data.group_id} /> <Tag tone={tone(data.state)}>{data.state}</Tag>
          </>
        }
        hint={
          <>
            {data.type === "consumer" ? "The coordinator assigns partitions (KIP-848)" : "A member assigns partitions (classic protocol)"}
            {data.assignor && `, by ${data.assignor}`}
            {data.group_epoch !== null && `, epoch ${data.group_epoch}`}. Lag: {many(lag, "record")}.
          </>
        }
        side={
          <Button do={doing("rebalance-group")} disabled={data.members.length === 0} title="Members join again, or get a new epoch">
            Rebalance
          </Button>
        }
      >
        <Wrong problem={problem} />
        {data.rebalance && <Stall of={data} />}
        {data.members.length === 0 ? (
          <Empty>No member is connected.</Empty>
        ) : (
          <Table label="Members" head={["Member", "Client id", "Host", "Reads", "Break"]}>
            {data.members.map((each) => (
              <tr key={each.member_id}>
                <td title={each.member_id}>
                  <Text of={each.group_instance_id ?? `${each.member_id.slice(0, 24)}…`} />
                  {each.member_epoch !== null && <small> epoch {each.member_epoch}</small>}
                </td>
                <td>
                  <Text of={each.client_id} />
                </td>
                <td>{each.host}</td>
                <td>
                  {each.assignment.length === 0 && <span class="none">nothing</span>}
                  {each.assignment.map((at) => (
                    <Tag key={`${at.topic}-${at.partition}`}>
                      <Text of={`${at.topic}-${at.partition}`} />
                    </Tag>
                  ))}
                </td>
                <td class="actions">
                  <Button label={`Expire the session of ${each.client_id}`} title="As if it had sent no heartbeat" do={doing("expire-session", { member: each.member_id })}>
                    Expire
                  </Button>
                  <Button label={`Remove ${each.client_id}`} tone="bad" do={doing("remove-member", { member: each.member_id })}>
                    Remove
                  </Button>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Card>
      <Card title="Committed offsets" hint="Where a reader would go on. Lag is how many records are after that.">
        {data.offsets.length === 0 ? (
          <Empty>Nothing is committed yet.</Empty>
        ) : (
          <Table label="Committed offsets" head={["Partition", "Read by", "Committed", "Log end", "Lag", "Why it does not go on"]}>
            {data.offsets.map((each) => (
              <tr key={`${each.topic}-${each.partition}`}>
                <td>
                  <a href={linkTo("topics", { topic: each.topic, partition: each.partition, offset: each.offset })}>
                    <Text of={`${each.topic}-${each.partition}`} />
                  </a>
                </td>
                <td class="short">
                  <Text of={readers.get(`${each.topic}-${each.partition}`)?.client_id} none="nobody" />
                </td>
                <td class="number">{each.offset}</td>
                <td class="number">{each.log_end_offset ?? ""}</td>
                <td class="number">{each.lag === null ? "" : each.lag > 0 ? <Tag tone="busy">{each.lag}</Tag> : 0}</td>
                <td>{(each.lag ?? 0) > 0 && behind.indexOf(each) < EXPLAINED && <Why of={each} isRead={readers.has(`${each.topic}-${each.partition}`)} isMoving={data.rebalance !== null} />}</td>
              </tr>
            ))}
          </Table>
        )}
        {data.pending.map((each) => (
          <p key={`${each.topic}-${each.partition}-${each.producer_id}`} class="pending">
            <Tag tone="busy">in a transaction</Tag> <Text of={`${each.topic}-${each.partition}`} />: offset {each.offset} of producer {each.producer_id} is
            committed with its transaction, or not at all. Until then, consumers that ask for stable offsets wait.
          </p>
        ))}
      </Card>
      {data.type !== "share" && <History group={props.id} now={changed} />}
    </>
  );
}

/** For so many partitions, the broker is asked why their readers do not go on. */
const EXPLAINED = 8;

/** Why a group does not read on in a partition where it is behind. */
function Why(props: { of: { topic: string; partition: number; offset: number }; isRead: boolean; isMoving: boolean }) {
  const { topic, partition, offset } = props.of;
  const { data } = useAnswer<PartitionExplained>(path`/v1/topics/${topic}/partitions/${partition}`, 2000);
  if (props.isMoving) return <>A rebalance is under way, above.</>;
  if (!props.isRead) return <>No member reads it.</>;
  if (!data) return null;
  if (data.holder && data.last_stable_offset <= offset)
    return (
      <>
        A transaction is open: <Holder of={data} />. Consumers with <code>isolation.level=read_committed</code> stop here.
      </>
    );
  return <span class="none">nothing at the broker: its consumer has not polled, or not committed</span>;
}

/** What a rebalance waits for, and on whom. */
function Stall(props: { of: Group }) {
  const { waited_ms, members } = props.of.rebalance!;
  const clients = new Map(props.of.members.map((each) => [each.member_id, each.client_id]));
  return (
    <div class="holder">
      <b>A rebalance is under way for {duration(waited_ms)}. </b>
      {members.length === 0 && "It waits for no member alone: the coordinator gives others some time to join."}
      <ul>
        {members.map((each) => (
          <li key={each.member_id}>
            It waits for <Text of={clients.get(each.member_id) || each.member_id} /> (<Text of={each.member_id} />). {each.why}
          </li>
        ))}
      </ul>
    </div>
  );
}

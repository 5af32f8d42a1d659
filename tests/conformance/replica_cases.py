"""What Apache Kafka's controller and ours are asked about replicas: who is in sync, who moves.

The brokers are nothing but numbers: they register, and say what a test lets them say.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    BrokerState,
)
from fencepost_protocol.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from fencepost_protocol.generated.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from fencepost_protocol.generated.unregister_broker import UnregisterBrokerRequest

from tests.conformance.controller_cases import (
    SAFE,
    UPGRADE,
    alter,
    beat,
    by_hand,
    case,
    create,
    delete,
    elect,
    register,
    replace,
    topic,
    update,
)
from tests.conformance.controller_peer import Case, Side

TOPIC, BROKER = 2, 4
MIN_INSYNC = "min.insync.replicas"
ELIGIBLE = "eligible.leader.replicas.version"
FORGOTTEN_EPOCH = -2
"""For Kafka that is the epoch of a broker that it does not know."""
SET, DELETE = 0, 1


def up(*broker_ids: int) -> Iterator[tuple[str, Case]]:
    for broker_id in broker_ids:
        yield f"broker {broker_id}", register(broker_id)
        yield f"{broker_id} is up", beat(broker_id)


def propose(
    where: tuple[str, int],
    leader: int,
    *isr: int,
    leader_epoch: int = 0,
    partition_epoch: int = 0,
    recovery: int = 0,
    sender_epoch: int = 0,
    replica_epoch: int = 0,
) -> Case:
    """AlterPartition as a leader sends it; epochs are told by how wrong they are."""

    def make(side: Side) -> Message:
        now = side.partition_epochs.get(where, (0, 0))
        known = where[0] in side.topic_names.values()
        states = [BrokerState(each, side.epochs.get(each, 7) + replica_epoch) for each in isr]
        asked = AlterPartitionRequestPartitionData(
            where[1], now[0] + leader_epoch, [], states, recovery, now[1] + partition_epoch
        )
        topic_id = side.topic_id(where[0]) if known else b"n" * 16
        sender = side.epochs.get(leader, 7) + sender_epoch
        return AlterPartitionRequest(
            leader, sender, [AlterPartitionRequestTopicData(topic_id, [asked])]
        )

    return make


def reassign(*asked: tuple[str, int, Sequence[int] | None], may_resize: bool = True) -> Case:
    topics = [
        ReassignableTopic(name, [ReassignablePartition(number, None if to is None else list(to))])
        for name, number, to in asked
    ]
    return case(AlterPartitionReassignmentsRequest(10_000, may_resize, topics))


def under_way(*asked: tuple[str, list[int]]) -> Case:
    topics = [ListPartitionReassignmentsTopics(*each) for each in asked] or None
    return case(ListPartitionReassignmentsRequest(10_000, topics))


def in_sync_changes() -> Iterator[tuple[str, Case]]:
    yield from up(40, 41, 42, 43)
    yield "three replicas", create(by_hand("i", (0, [40, 41, 42])))
    there = ("i", 0)
    yield "as it is", propose(there, 40, 40, 41, 42)
    yield "in another order", propose(there, 40, 40, 42, 41)
    yield "one less", propose(there, 40, 40, 41)
    yield "an older partition epoch", propose(there, 40, 40, partition_epoch=-1)
    yield "a later partition epoch", propose(there, 40, 40, partition_epoch=1)
    yield "an older leader epoch", propose(there, 40, 40, leader_epoch=-1)
    yield "a later leader epoch", propose(there, 40, 40, leader_epoch=1)
    yield "older and later", propose(there, 40, 40, leader_epoch=-1, partition_epoch=1)
    yield "not its leader", propose(there, 41, 40, 41, 42)
    yield "not its leader, older", propose(there, 41, 40, partition_epoch=-1)
    yield "no such topic", propose(("nope", 0), 40, 40)
    yield "no such partition", propose(("i", 5), 40, 40)
    yield "twice", propose(there, 40, 40, 41, 41)
    yield "without the leader", propose(there, 40, 41)
    yield "no replica", propose(there, 40, 40, 43)
    yield "unknown broker", propose(there, 40, 40, 99)
    yield "nobody", propose(there, 40)
    yield "recovering", propose(there, 40, 40, recovery=1)
    yield "recovering, together", propose(there, 40, 40, 41, recovery=1)
    yield "an earlier incarnation asks", propose(there, 40, 40, sender_epoch=-1)
    yield "of an earlier incarnation", propose(there, 40, 40, 41, replica_epoch=-1)
    yield "42 is fenced", beat(42, fence=True)
    yield "a fenced one", propose(there, 40, 40, 41, 42)
    yield "42 is up again", beat(42)
    yield "up again", propose(there, 40, 40, 41, 42)
    yield "the leader is fenced", beat(40, fence=True)
    yield "the former leader asks", propose(there, 40, 40, 41, 42)
    yield "the next one asks", propose(there, 41, 41)
    yield "end", delete("i")


def reassignments() -> Iterator[tuple[str, Case]]:
    yield from up(50, 51, 52, 53)
    yield "topic", create(by_hand("m", *((number, [50, 51]) for number in range(6))))
    yield "nothing under way", under_way()
    yield "no such topic", reassign(("nope", 0, [50]))
    yield "no such partition", reassign(("m", 9, [50]))
    yield "nothing to call off", reassign(("m", 0, None))
    for wrong in ([], [50, 50], [99], [-1], [50, 99, 99]):
        yield f"to {wrong}", reassign(("m", 0, wrong))
    yield "where it is", reassign(("m", 0, [50, 51]))
    yield "in another order", reassign(("m", 0, [51, 50]))
    yield "another number", reassign(("m", 0, [50, 51, 52]), may_resize=False)
    yield "the same number", reassign(("m", 0, [50, 52]), may_resize=False)
    yield "the same number, meanwhile", reassign(("m", 0, [50, 53]), may_resize=False)
    yield "another number, meanwhile", reassign(("m", 0, [50, 52, 53]), may_resize=False)
    yield "back", reassign(("m", 0, None))
    yield "one more", reassign(("m", 0, [50, 51, 52]))
    yield "the same again", reassign(("m", 0, [50, 51, 52]))
    yield "under way", under_way()
    yield "two are asked for", under_way(("m", [0, 1]), ("nope", [0]))
    yield "others are asked for", under_way(("m", [1, 77]))
    yield "yet one more", reassign(("m", 0, [50, 51, 52, 53]))
    yield "another instead", reassign(("m", 0, [50, 53]))
    yield "one of three that are coming", reassign(("m", 0, [50, 51]))
    yield "three are coming", reassign(("m", 0, [50, 51, 52]))
    yield "three others", reassign(("m", 0, [50, 51, 53]), may_resize=False)
    yield "as many as there were", reassign(("m", 0, [50, 53]), may_resize=False)
    yield "called off", reassign(("m", 0, None))
    yield "called off twice", reassign(("m", 0, None))
    yield from _whole_moves()
    yield from _moves_that_meet_a_death()
    yield "end", delete("m", "c")


def unclean_elections() -> Iterator[tuple[str, Case]]:
    yield from up(60, 61)
    yield "topics", create(by_hand("x", (0, [60, 61])), by_hand("y", (0, [60, 61])))
    yield "61 is fenced", beat(61, fence=True)
    yield "60 is fenced", beat(60, fence=True)
    yield "61 is up again", beat(61)
    allowed = [("unclean.leader.election.enable", SET, "true")]
    yield "x may", alter((TOPIC, "x", allowed))
    yield "all may", alter((BROKER, "", allowed))
    yield "60 is up again", beat(60)
    yield "61 is fenced again", beat(61, fence=True)
    yield "60 is fenced again", beat(60, fence=True)
    yield "61 is up once more", beat(61)
    yield "none may", alter((BROKER, "", [("unclean.leader.election.enable", DELETE, None)]))
    yield "end", delete("x", "y")


def came_back(broker_id: int, *, in_order: bool) -> Iterator[tuple[str, Case]]:
    """Forgotten meanwhile, so that no session is left which would have to end before."""
    yield f"{broker_id} is forgotten", case(UnregisterBrokerRequest(broker_id))
    previous = FORGOTTEN_EPOCH if in_order else -1
    how = "from a stop" if in_order else "from a kill"
    yield f"{broker_id} comes {how}", register(broker_id, previous_broker_epoch=previous)
    yield f"{broker_id} is up again", beat(broker_id)


def eligible_leaders() -> Iterator[tuple[str, Case]]:
    """KIP-966: who left when too few were in sync has all that was committed."""
    yield from up(70, 71, 72)
    two = [(MIN_INSYNC, "2")]
    topics = [topic(name, -1, -1, [(0, [70, 71, 72])], two) for name in ("e", "f", "g")]
    yield "topics", create(*topics, topic("h", -1, -1, [(0, [70, 71])], [(MIN_INSYNC, "3")]))
    yield "72 is fenced", beat(72, fence=True)
    yield "71 is fenced", beat(71, fence=True)
    yield "70 is fenced", beat(70, fence=True)
    yield "72 is up, and lacks records", beat(72)
    yield "71 is up, and has all", beat(71)
    yield "70 is up", beat(70)
    yield "another is in sync", propose(("e", 0), 71, 71, 70)
    yield "all are in sync", propose(("f", 0), 71, 71, 70, 72)
    yield "its leader alone", propose(("f", 0), 71, 71)
    yield "the preferred leader is not in sync", elect(0, ("f", [0]), ("e", [0]))
    yield "another number", alter((TOPIC, "f", [(MIN_INSYNC, SET, "3")]))
    yield "the same number", alter((TOPIC, "f", [(MIN_INSYNC, SET, "3")]))
    yield "another number for all", alter((BROKER, "", [(MIN_INSYNC, SET, "2")]))
    yield "none for all", alter((BROKER, "", [(MIN_INSYNC, DELETE, None)]))
    yield "nothing for all", replace((BROKER, "", []))
    yield "something else for all", replace((BROKER, "", [("message.max.bytes", "1000000")]))
    yield "back", replace((BROKER, "", [(MIN_INSYNC, "1")]))
    yield "of one broker", alter((BROKER, "70", [(MIN_INSYNC, SET, "2")]))
    yield "of one broker, away", alter((BROKER, "70", [(MIN_INSYNC, DELETE, None)]))
    yield from came_back(70, in_order=True)
    yield "70 is in sync", propose(("e", 0), 71, 71, 70)
    yield "70 is not in sync", propose(("e", 0), 71, 71)
    yield from came_back(70, in_order=False)
    yield from _all_die()
    yield "end", delete("e", "f", "g", "h")


def _all_die() -> Iterator[tuple[str, Case]]:
    for each in (70, 72, 71):
        yield f"{each} dies", beat(each, fence=True)
    for each in (71, 72):
        yield from came_back(each, in_order=False)
    yield "unclean by hand", elect(1, ("e", [0]), ("f", [0]), ("g", [0]))
    yield "70 is up after all", beat(70)
    yield "who leads recovers", propose(("e", 0), 71, 71, 70)
    yield "a move", reassign(("g", 0, [72, 71]))


def without_eligible_leaders() -> Iterator[tuple[str, Case]]:
    """The last in sync stays so, and others wait for it."""
    yield "broker's own", alter((BROKER, "70", [("message.max.bytes", SET, "1000000")]))
    yield "off", update((ELIGIBLE, 0, SAFE))
    yield "of one broker", alter((BROKER, "70", [(MIN_INSYNC, SET, "2")]))
    yield from unclean_elections()
    yield "none for all", alter((BROKER, "", [(MIN_INSYNC, DELETE, None)]))
    yield "on", update((ELIGIBLE, 1, UPGRADE))
    yield "on again", update((ELIGIBLE, 1, UPGRADE))


def random_steps(seed: int, count: int) -> Iterator[Callable[[MetadataImage], Case]]:
    """What may happen to `r`, whoever leads it by then.

    No broker is forgotten: Kafka's controller gives up if it was eligible in a topic that is gone.
    And none moves: Kafka keeps who is no replica any more eligible.
    """
    chance = random.Random(seed)
    brokers = (80, 81, 82)
    for _ in range(count):
        step = chance.randrange(10)
        broker_id = chance.choice(brokers)
        if step < 5:
            yield always(beat(broker_id, fence=chance.random() < 0.5))
        elif step < 8:
            yield _in_sync(chance.sample(brokers, chance.randint(1, 3)))
        elif step == 8:
            setting = chance.choice((MIN_INSYNC, "unclean.leader.election.enable"))
            values = ("1", "2", "3") if setting == MIN_INSYNC else ("true", "false", "false")
            changed = alter((TOPIC, "r", [(setting, SET, chance.choice(values))]))
            yield _while_somebody_leads(changed) if setting == MIN_INSYNC else always(changed)
        else:
            yield always(elect(chance.randrange(2), ("r", [0])))


def always(asked: Case) -> Callable[[MetadataImage], Case]:
    """A step that does not depend on what was before."""
    return lambda _: asked


def _while_somebody_leads(asked: Case) -> Callable[[MetadataImage], Case]:
    """Kafka forgets who is eligible also where that is who is waited for."""

    def ask(image: MetadataImage) -> Case:
        now = image.topics.by_name["r"].partitions[0]
        return asked if now.isr else beat(80)

    return ask


def _in_sync(brokers: Sequence[int]) -> Callable[[MetadataImage], Case]:
    def ask(image: MetadataImage) -> Case:
        leader = image.topics.by_name["r"].partitions[0].leader
        isr = dict.fromkeys((leader, *brokers))
        return propose(("r", 0), leader, *isr)

    return ask


def _whole_moves() -> Iterator[tuple[str, Case]]:
    yield "to two others", reassign(("m", 1, [52, 53]))
    yield "one is there", propose(("m", 1), 50, 50, 51, 52)
    yield "an election meanwhile", elect(0, ("m", [1]))
    yield "it leads already", propose(("m", 1), 52, 50, 51, 52, 53)
    yield "after the end", propose(("m", 1), 52, 52, 53)
    yield "to two others and back", reassign(("m", 2, [52, 53]))
    yield "the last one is there", propose(("m", 2), 50, 50, 51, 52, 53)
    yield "where is it", under_way()
    yield "the leader stays", reassign(("m", 3, [52, 50]))
    yield "that one is there", propose(("m", 3), 50, 50, 51, 52)
    yield "less", reassign(("m", 3, [52]))
    yield "three", create(by_hand("c", (0, [50, 51, 52]), (1, [50]), (2, [50])))
    yield "two of three", reassign(("c", 0, [50, 51]))
    yield "one of two, the other", reassign(("c", 0, [51]))
    yield "twice in a request", reassign(("m", 4, [50, 52]), ("m", 4, [50, 53]))


def _moves_that_meet_a_death() -> Iterator[tuple[str, Case]]:
    yield "53 is fenced", beat(53, fence=True)
    yield "to a fenced one", reassign(("m", 5, [50, 53]))
    yield "it cannot be in sync", propose(("m", 5), 50, 50, 51, 53)
    yield "53 is up", beat(53)
    yield "it is in sync", propose(("m", 5), 50, 50, 51, 53)
    yield "one becomes two others", reassign(("c", 1, [52, 53]), ("c", 2, [52, 53]))
    yield "one of them is there", propose(("c", 1), 50, 50, 52)
    yield "and there", propose(("c", 2), 50, 50, 52)
    yield "50 is fenced", beat(50, fence=True)
    yield "those that are added are alone", reassign(("c", 1, None))
    allowed = [("unclean.leader.election.enable", SET, "true")]
    yield "uncleanly, then", alter((TOPIC, "c", allowed))
    yield "called off uncleanly", reassign(("c", 1, None))
    yield "50 is up", beat(50)
    yield "called off uncleanly, to one that is up", reassign(("c", 2, None))

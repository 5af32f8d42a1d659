"""What both controllers are asked, one after another: a label and how to make the request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from fencepost_protocol.apis import Message
from fencepost_protocol.generated import alter_configs as legacy
from fencepost_protocol.generated import incremental_alter_configs as incremental
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsRequest
from fencepost_protocol.generated.broker_heartbeat import BrokerHeartbeatRequest
from fencepost_protocol.generated.broker_registration import Feature
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fencepost_protocol.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from fencepost_protocol.generated.unregister_broker import UnregisterBrokerRequest
from fencepost_protocol.generated.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from fencepost_protocol.primitives import ZERO_UUID

from tests.conformance.controller_peer import Case, Side, broker_registration

TOPIC, BROKER, GROUP = 2, 4, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
UPGRADE, SAFE, UNSAFE = 1, 2, 3


def case(message: Message) -> Case:
    """A request that is the same for both sides."""
    return lambda _side: message


# -- topics -------------------------------------------------------------------------------------


def topic(
    name: str,
    partitions: int = 1,
    factor: int = 1,
    manual: Sequence[tuple[int, list[int]]] = (),
    configs: Sequence[tuple[str, str | None]] = (),
) -> CreatableTopic:
    return CreatableTopic(
        name,
        partitions,
        factor,
        [CreatableReplicaAssignment(*item) for item in manual],
        [CreatableTopicConfig(*item) for item in configs],
    )


def by_hand(name: str, *manual: tuple[int, list[int]]) -> CreatableTopic:
    return topic(name, -1, -1, manual)


def create(*topics: CreatableTopic, dry: bool = False) -> Case:
    return case(CreateTopicsRequest(list(topics), 10_000, dry))


def creations() -> Iterator[tuple[str, Case]]:
    yield "create", create(topic("t1", 2), topic("t2", -1, -1))
    yield "exists", create(topic("t1"))
    yield "exists, and all else wrong", create(topic("t1", 0, 0, (), [("foo", "x")]))
    names = ["", ".", "..", "...", "a/b", "a b", "ä", "x" * 249, "x" * 250, "__consumer_offsets"]
    for name in names:
        yield f"name {name[:9]!r}", create(topic(name), dry=True)
    yield "the metadata log itself", create(topic("__cluster_metadata"))
    for count, factor in ((0, 1), (-2, 1), (1, 0), (1, -2), (0, 0), (1, 2), (-1, 3)):
        yield f"{count} partitions, factor {factor}", create(topic("z", count, factor))
    yield "twice", create(topic("d"), topic("d", 2), topic("e"))
    yield "collision", create(topic("a.b"))
    yield "collision refused", create(topic("a_b"))
    yield "collision with itself", create(topic("a.b"))
    yield "collision in one request", create(topic("q.b"), topic("q_b"))
    yield "assignments", create(by_hand("as1", (1, [1]), (0, [1])))
    wrong: list[list[tuple[int, list[int]]]] = [
        [(0, [1]), (2, [1])],
        [(-1, [1])],
        [(1, [1])],
        [(0, [1]), (0, [1])],
        [(0, [1]), (0, [])],
        [(3, [1]), (0, [])],
        [(0, [1, 1])],
        [(0, [2])],
        [(0, [-1])],
        [(0, [])],
        [(0, [1]), (1, [1, 2])],
        [(0, [1]), (1, [1, 1])],
    ]
    for manual in wrong:
        yield f"assignments {manual}", create(by_hand("as2", *manual))
    yield "assignments and partitions", create(topic("as2", 1, -1, [(0, [1])]))
    yield "assignments and factor", create(topic("as2", -1, 1, [(0, [1])]))
    yield "assignments and both", create(topic("as2", 0, 0, [(0, [1])]))
    good = [("retention.ms", "1000"), ("cleanup.policy", "compact,delete")]
    yield "settings", create(topic("c1", 1, 1, (), good))
    yield "setting twice", create(topic("c2", 1, 1, (), [("flush.ms", "1"), ("flush.ms", "2")]))
    for pairs in (
        [("foo", "bar")],
        [("retention.ms", "abc")],
        [("retention.ms", "-2")],
        [("retention.ms", None), ("flush.ms", None), ("foo", "x")],
        [("cleanup.policy", "x")],
        [("cleanup.policy", " delete, compact")],
        [("cleanup.policy", "")],
        [("", "")],
    ):
        yield f"settings {pairs}", create(topic("c3", 1, 1, (), pairs), dry=True)
    yield "bad name and all else", create(topic("a b", 0, 0, (), [("foo", "x")]))
    yield "bad count and setting", create(topic("zz", 0, 1, (), [("foo", "x")]))
    yield "good and bad", create(topic("o3"), topic("o1", 0), topic("o2"), topic("t1"))
    yield "too many", create(topic("m", 10_001), dry=True)
    yield "too many together", create(topic("m", 6000), topic("n n", 6000), dry=True)
    yield "too many records", create(topic("m", 10_000), dry=True)
    yield "too many records together", create(topic("m", 5000), topic("n", 4999), dry=True)
    yield "just enough", create(topic("m", 9999), topic("t1"), topic("n", 1, 7), dry=True)
    yield "no topics", create()


def delete(*topics: str | tuple[str | None, str | bytes] | None) -> Case:
    def make(side: Side) -> Message:
        states = []
        for each in topics:
            name, known = each if isinstance(each, tuple) else (each, ZERO_UUID)
            topic_id = known if isinstance(known, bytes) else side.topic_id(known)
            states.append(DeleteTopicState(name, topic_id))
        return DeleteTopicsRequest(states, timeout_ms=10_000)

    return make


def deletions() -> Iterator[tuple[str, Case]]:
    yield "prepare", create(*(topic(f"d{number}") for number in range(6)))
    yield "by name", delete("d0", "nope", "", "a b")
    yield "again", delete("d0")
    yield "neither, both", delete(None, ("d1", "d1"))
    yield "twice", delete("d1", "d1", "zz", "zz")
    yield "id twice", delete((None, "d2"), (None, "d2"), (None, b"x" * 16), (None, b"x" * 16))
    yield "name and id of one", delete("d3", (None, "d3"))
    yield "id and name of one", delete((None, "d3"), "d3")
    yield "unknown id", delete((None, b"y" * 16), "nope")
    yield "a deleted id", delete((None, "d0"))
    yield "name and id", delete("d4", (None, "d5"))
    yield "internal", delete("__cluster_metadata", "__consumer_offsets")
    yield "nothing", delete()
    yield "with settings", delete("c1")
    yield "its name is free again", create(topic("c1"))


def grow(*topics: tuple[str, int, list[list[int]] | None], dry: bool = False) -> Case:
    asked = []
    for name, count, manual in topics:
        ids = None if manual is None else [CreatePartitionsAssignment(each) for each in manual]
        asked.append(CreatePartitionsTopic(name, count, ids))
    return case(CreatePartitionsRequest(asked, 10_000, dry))


def growths() -> Iterator[tuple[str, Case]]:
    yield "prepare", create(topic("p", 2), topic("p2", 1))
    yield "validate", grow(("p", 3, None), dry=True)
    yield "grow", grow(("p", 3, None), ("p2", 4, None))
    for count in (3, 2, 0, -1):
        yield f"to {count}", grow(("p", count, None))
    yield "unknown", grow(("nope", 3, None), ("a b", 3, None), ("", 3, None))
    yield "twice", grow(("p", 4, None), ("nope", 1, None), ("p", 5, None))
    yield "by hand", grow(("p", 4, [[1]]))
    wrong: list[list[list[int]]] = [[], [[1], [1]], [[7]], [[1, 1]], [[]], [[1, 2]]]
    for manual in wrong:
        yield f"by hand {manual}", grow(("p", 5, manual))
    yield "metadata log", grow(("__cluster_metadata", 3, None))
    yield "nothing", grow()


# -- settings -----------------------------------------------------------------------------------


Change: TypeAlias = tuple[str, int, str | None]


def alter(*resources: tuple[int, str, Sequence[Change]], dry: bool = False) -> Case:
    asked = [
        incremental.AlterConfigsResource(
            kind, name, [incremental.AlterableConfig(*change) for change in changes]
        )
        for kind, name, changes in resources
    ]
    return case(incremental.IncrementalAlterConfigsRequest(asked, dry))


def replace(
    *resources: tuple[int, str, Sequence[tuple[str, str | None]]], dry: bool = False
) -> Case:
    asked = [
        legacy.AlterConfigsResource(kind, name, [legacy.AlterableConfig(*each) for each in values])
        for kind, name, values in resources
    ]
    return case(legacy.AlterConfigsRequest(asked, dry))


def topic_alterations() -> Iterator[tuple[str, Case]]:
    yield "prepare", create(topic("ac"), topic("ac2"))
    policy = "cleanup.policy"
    one_by_one: list[Change] = [
        ("retention.ms", SET, "5"),
        ("retention.ms", SET, "5"),
        ("retention.ms", SET, None),
        ("retention.ms", SET, "x"),
        ("foo", SET, "x"),
        ("foo", DELETE, None),
        ("flush.ms", DELETE, None),
        ("retention.ms", DELETE, "ignored"),
        (policy, APPEND, "compact"),
        (policy, APPEND, "compact"),
        (policy, APPEND, "x"),
        (policy, SUBTRACT, "delete"),
        (policy, SUBTRACT, "compact"),
        (policy, APPEND, "delete,compact"),
        (policy, SUBTRACT, "delete , compact"),
        (policy, DELETE, None),
        (policy, SUBTRACT, "compact"),
        (policy, APPEND, None),
        ("retention.ms", APPEND, "5"),
        ("retention.ms", SUBTRACT, "5"),
        ("foo", APPEND, "5"),
        (policy, SET, "compact, delete"),
        (policy, APPEND, "delete"),
    ]
    for number, change in enumerate(one_by_one):
        yield f"{number}. {change}", alter((TOPIC, "ac", [change]))
    yield "key twice", alter((TOPIC, "ac", [("flush.ms", SET, "5"), ("flush.ms", DELETE, None)]))
    flush = ("flush.ms", SET, "5")
    yield "resource twice", alter((TOPIC, "ac", [flush]), (TOPIC, "ac", [flush]))
    yield "one of two topics", alter((TOPIC, "ac2", [flush]), (TOPIC, "nope", [flush]))
    yield "one of two settings", alter((TOPIC, "ac", [flush, ("foo", SET, "6")]))
    for name in ("nope", "a b", "", "__cluster_metadata"):
        yield f"topic {name!r}", alter((TOPIC, name, [flush]))
    yield "unknown topic and setting", alter((TOPIC, "nope", [("foo", SET, "5")]))
    for kind in (0, 3, 99):
        yield f"type {kind}", alter((kind, "x", [flush]))
    yield "validate", alter((TOPIC, "ac", [("flush.ms", SET, "77")]), dry=True)
    least, most = ("min.compaction.lag.ms", SET, "10"), ("max.compaction.lag.ms", SET, "5")
    for changes in ([least, most], [least], [most]):
        yield f"together {changes}", alter((TOPIC, "ac", changes))
    yield "no settings", alter((TOPIC, "ac", []))
    yield "no resources", alter()
    yield "all at once", replace((TOPIC, "ac", [("retention.ms", "9")]))
    yield "all at once again", replace((TOPIC, "ac", [("flush.ms", "8"), ("retention.ms", "9")]))
    for pair in (("flush.ms", None), ("flush.ms", "x"), ("foo", "x")):
        yield f"all at once {pair}", replace((TOPIC, "ac", [pair]))
    yield "all at once, twice", replace((TOPIC, "ac", [("flush.ms", "1"), ("flush.ms", "2")]))
    yield "all at once, unknown", replace((TOPIC, "nope", [("flush.ms", "1")]))
    yield "all at once, unknown both", replace((TOPIC, "nope", [("foo", "1")]))
    yield "all at once, validate", replace((TOPIC, "ac", [("flush.ms", "3")]), dry=True)
    yield "all at once, none", replace((TOPIC, "ac", []))
    yield "all at once, type", replace((8, "1", [("root", "INFO")]), (3, "1", []))


def broker_alterations() -> Iterator[tuple[str, Case]]:
    keep = ("log.retention.ms", SET, "100")
    yield "one broker", alter((BROKER, "1", [keep]))
    yield "the same again", alter((BROKER, "1", [keep]))
    yield "all brokers", alter((BROKER, "", [("log.retention.ms", SET, "200")]))
    yield "read-only", alter((BROKER, "1", [("num.partitions", SET, "3")]))
    yield "another broker", alter((BROKER, "2", [keep]))
    yield "no number", alter((BROKER, "x", [keep]))
    yield "null", alter((BROKER, "1", [("log.retention.ms", SET, None)]))
    yield "append", alter((BROKER, "1", [("log.cleanup.policy", APPEND, "compact")]))
    yield "delete", alter((BROKER, "1", [("log.retention.ms", DELETE, None)]))
    yield "all at once", replace((BROKER, "1", [("log.retention.ms", "5")]))
    yield "all at once again", replace((BROKER, "1", [("log.retention.ms", "5")]))
    yield "all at once, none", replace((BROKER, "1", []), (BROKER, "", []))
    group = ("consumer.session.timeout.ms", SET, "50000")
    yield "group", alter((GROUP, "g1", [group]))
    yield "group, unknown setting", alter((GROUP, "g1", [("foo", SET, "1")]))
    yield "group without a name", alter((GROUP, "", [group]))


# -- features, producer ids ---------------------------------------------------------------------


def update(*updates: tuple[str, int, int], dry: bool = False) -> Case:
    keys = [FeatureUpdateKey(name, level, False, how) for name, level, how in updates]
    return case(UpdateFeaturesRequest(60_000, keys, dry))


def feature_updates() -> Iterator[tuple[str, Case]]:
    version = "transaction.version"
    for level, how in (
        *((2, UPGRADE), (2, SAFE), (1, UPGRADE), (3, UPGRADE), (3, SAFE), (-1, UPGRADE)),
        *((1, 0), (1, 4), (1, SAFE), (2, SAFE), (2, UNSAFE), (0, UNSAFE), (0, UPGRADE)),
        *((0, SAFE), (2, UPGRADE)),
    ):
        yield f"to {level} by {how}", update((version, level, how))
    yield "validate", update((version, 0, SAFE), dry=True)
    yield "unknown", update(("foo", 1, UPGRADE))
    yield "unknown to 0", update(("foo", 0, SAFE))
    yield "no name", update(("", 1, UPGRADE))
    yield "good and bad", update((version, 1, SAFE), ("foo", 1, UPGRADE))
    yield "two", update((version, 2, UPGRADE), ("group.version", 1, UPGRADE))
    yield "group down", update(("group.version", 0, SAFE), dry=True)
    yield "nothing", update()


def allocate(broker_id: int, wrong_by: int = 0) -> Case:
    return lambda side: AllocateProducerIdsRequest(
        broker_id, side.epochs.get(broker_id, 0) + wrong_by
    )


def allocations() -> Iterator[tuple[str, Case]]:
    for number in range(3):
        yield f"{number}.", allocate(1)
    for wrong_by in (-1, 1):
        yield f"epoch wrong by {wrong_by}", allocate(1, wrong_by)
    yield "unknown broker", allocate(9)
    yield "after the refusals", allocate(1)


# -- brokers ------------------------------------------------------------------------------------


def register(broker_id: int, **changes: Any) -> Case:
    return lambda side: broker_registration(side, broker_id, **changes)


def beat(
    broker_id: int, *, behind: bool = False, fence: bool = False, down: bool = False, wrong: int = 0
) -> Case:
    def make(side: Side) -> Message:
        epoch = side.epochs.get(broker_id, 0)
        return BrokerHeartbeatRequest(
            broker_id, epoch + wrong, epoch - 1 if behind else 1 << 40, fence, down
        )

    return make


def elect(how: int, *asked: tuple[str, list[int]]) -> Case:
    wanted = [TopicPartitions(*item) for item in asked] if asked else None
    return case(ElectLeadersRequest(how, wanted, 10_000))


def registrations() -> Iterator[tuple[str, Case]]:
    yield "another cluster", register(11, cluster_id="another")
    for dirs in ([], [bytes(16)], [bytes(15) + b"\5"], [b"a" * 16] * 2):
        yield f"directories {dirs}", register(12, log_dirs=dirs)
    for last in (99, 100, 255):  # Kafka keeps the first hundred ids to itself
        yield f"directory {last}", register(12, log_dirs=[bytes(15) + bytes([last])])
    yield "unregister 12", case(UnregisterBrokerRequest(12))
    yield "no features", register(13, features=[])
    yield "a feature too few", register(13, features=[Feature("metadata.version", 7, 30)])
    yield "no listeners", register(14, listeners=[])
    yield "broker 20", register(20)
    yield "again", register(20)
    yield "not caught up", beat(20, behind=True)
    yield "wrong epoch", beat(20, wrong=-1)
    yield "unknown", beat(99)
    yield "wants to be fenced", beat(20, fence=True)
    yield "up", beat(20)
    yield "up, reading slowly", beat(20, behind=True)
    yield "another incarnation while it is up", register(20, incarnation_id=b"o" * 16)
    yield "the same incarnation while it is up", register(20)
    yield "a directory of another", register(21, log_dirs=[bytes([20]) * 15 + b"d"])
    yield "down to be fenced", beat(20, fence=True)
    yield "up again", beat(20)
    yield "wants to go, leads nothing", beat(20, down=True)
    yield "and once more up", beat(20)
    yield "broker 21", register(21)
    yield "another incarnation, never heard of", register(21, incarnation_id=b"o" * 16)
    yield "is heard of, fenced", beat(21, behind=True)
    yield "yet another incarnation", register(21, incarnation_id=b"p" * 16)
    yield "21 is up", beat(21)
    yield "go at once", beat(21, down=True, fence=True)
    yield "unregister", case(UnregisterBrokerRequest(20))
    yield "unregister again", case(UnregisterBrokerRequest(20))
    yield "gone", beat(20)
    yield "unregister 14", case(UnregisterBrokerRequest(14))
    yield "unregister 21", case(UnregisterBrokerRequest(21))


def elections() -> Iterator[tuple[str, Case]]:
    yield "broker 30", register(30)
    yield "fenced, by hand", create(by_hand("f1", (0, [30, 1])), by_hand("f2", (0, [30])))
    yield "30 is up", beat(30)
    yield "by hand", create(by_hand("r", (0, [30, 1]), (1, [1, 30])), by_hand("s", (0, [30])))
    yield "sizes", create(by_hand("u", (0, [30, 1]), (1, [1])))
    yield "grow by hand", grow(("r", 3, [[30, 1]]))
    yield "grow by hand, one replica", grow(("r", 4, [[1]]))
    yield "nothing to elect", elect(0, ("r", [0, 1, 2]), ("s", [0]), ("r", [0]))
    yield "preferred needs none", elect(1, ("r", [0, 1]))
    yield "unknown", elect(0, ("r", [7, -1]), ("nope", [0]))
    yield "unknown kind", elect(7, ("r", [0]))
    yield "30 is fenced", beat(30, fence=True)
    yield "preferred is away", elect(0, ("r", [0, 1, 2]), ("s", [0]))
    yield "nobody to elect", elect(1, ("r", [0, 1]), ("s", [0]))
    yield "30 is back", beat(30)
    yield "preferred is not in sync", elect(0, ("r", [0]), ("s", [0]))
    yield "another incarnation of 30, up", register(30, incarnation_id=b"n" * 16)
    yield "30 wants to go", beat(30, down=True)
    yield "unregister", case(UnregisterBrokerRequest(30))
    yield "nobody left to elect", elect(1, ("s", [0]))
    yield "preferred is gone", elect(0, ("r", [0]))
    yield "end", delete("f1", "r", "s")

"""Ids of a recording and of the target of its replay: each stands for one other, for good."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, TypeAlias

from fencepost_protocol.schema.model import RESERVED_TAGS_FROM, Field, Primitive

NO_UUID: Final = bytes(16)
TopicPartition: TypeAlias = tuple[str, int]


class Kind(Enum):
    """What a field holds, for a comparison."""

    PLAIN = "a value that has to be the same"
    IGNORED = "a value that differs from run to run, or a text for people"
    BROKER = "broker id, which may be any"
    UUID = "uuid"
    CLUSTER = "cluster id"
    PRODUCER = "producer id"
    PRODUCER_EPOCH = "producer epoch"
    MEMBER = "member id"
    GENERATION = "generation"
    SESSION = "fetch session"
    LEADER_EPOCH = "leader epoch"
    OFFSET = "offset"


ID_KINDS: Final = frozenset(Kind) - {Kind.PLAIN, Kind.IGNORED, Kind.BROKER, Kind.OFFSET}
_FROM_ONE: Final = (Kind.GENERATION, Kind.SESSION)
"""Kinds of which 0 is no id."""
_BY_ENTITY: Final = {"brokerId": Kind.BROKER, "producerId": Kind.PRODUCER}
_BY_NAME: Final = {
    **dict.fromkeys(
        ("ProducerEpoch", "V3AndBelowProducerEpoch", "OngoingTxnProducerEpoch"),
        Kind.PRODUCER_EPOCH,
    ),
    **dict.fromkeys(("MemberId", "Leader"), Kind.MEMBER),
    **dict.fromkeys(
        ("GenerationId", "GenerationIdOrMemberEpoch", "MemberEpoch", "GroupEpoch",
         "AssignmentEpoch"),
        Kind.GENERATION,
    ),
    "SessionId": Kind.SESSION,
    "ClusterId": Kind.CLUSTER,
    **dict.fromkeys(
        ("LeaderEpoch", "CurrentLeaderEpoch", "CommittedLeaderEpoch", "LastFetchedEpoch",
         "PartitionEpoch"),
        Kind.LEADER_EPOCH,
    ),
    **dict.fromkeys(
        ("BaseOffset", "Offset", "CommittedOffset", "FetchOffset", "EndOffset", "HighWatermark",
         "LastStableOffset", "LowWatermark", "FirstOffset", "StartOffset", "CurrentTxnStartOffset"),
        Kind.OFFSET,
    ),
    **dict.fromkeys(
        ("ControllerId", "Host", "Port", "Rack", "ClientHost", "ErrorMessage",
         "BatchIndexErrorMessage", "LogDir", "Size", "PartitionSize", "TotalBytes", "UsableBytes",
         "OffsetLag", "LogStartOffset", "BrokerEpoch", "FinalizedFeaturesEpoch",
         "SessionLifetimeMs", "Documentation"),
        Kind.IGNORED,
    ),
}  # fmt: skip
_TIMES: Final = ("Timestamp", "TimestampMs", "TimeMs")


def kind_of(field: Field) -> Kind:
    """Return what a field of an answer or a request holds."""
    if field.tag is not None and field.tag >= RESERVED_TAGS_FROM:
        return Kind.IGNORED  # Fencepost's own
    if field.type == Primitive("uuid"):
        return Kind.UUID
    by_entity = _BY_ENTITY.get(field.entity_type or "")
    if field.name not in _BY_NAME and field.name.endswith(_TIMES):
        return Kind.IGNORED
    return _BY_NAME.get(field.name) or by_entity or Kind.PLAIN


class Ids:
    """Which id of the target stands for which one of the recording.

    A pair is learned from the first answers that name both. An id has a scope: epochs belong to a
    producer, generations to a group. Several epochs of leaders may stand for one of the target.
    """

    def __init__(self) -> None:
        self._to_target: dict[tuple[Kind, Any], dict[Any, Any]] = {}
        self._to_recorded: dict[tuple[Kind, Any], dict[Any, Any]] = {}
        self.offset_shifts: dict[TopicPartition, int] = {}
        """By how much offsets of the target are higher."""
        self.topic_names: dict[bytes, str] = {}
        """Names of topics by the ids of the recording."""
        self.told_epochs: set[tuple[TopicPartition, int]] = set()
        """Epochs of leaders that brokers of the recording have told with an error (KIP-951)."""

    def match(self, kind: Kind, scope: Any, recorded: Any, got: Any) -> bool:
        """Return whether one id stands for the other; learn it if both are new."""
        if _is_none(kind, recorded) or _is_none(kind, got):
            return bool(recorded == got)
        forward = self._to_target.setdefault((kind, scope), {})
        if kind is Kind.LEADER_EPOCH:
            # Brokers of the recording may have led in turn where the target leads all the time.
            return bool(forward.setdefault(recorded, got) == got)
        back = self._to_recorded.setdefault((kind, scope), {})
        if recorded not in forward and got not in back:
            forward[recorded], back[got] = got, recorded
        return recorded in forward and forward[recorded] == got

    def to_target(self, kind: Kind, scope: Any, recorded: Any) -> Any:
        """Return the target's id; an unknown one stays as it is."""
        if _is_none(kind, recorded):
            return recorded
        known = self._to_target.get((kind, scope), {})
        if kind is Kind.LEADER_EPOCH and (scope, recorded) in self.told_epochs:
            return known.get(recorded, max(known.values(), default=recorded))
        return known.get(recorded, recorded)

    def leaders_changed(self, place: TopicPartition) -> bool:
        """Return whether leaders of a partition changed in the recording, and not in the target."""
        epochs = self._to_target.get((Kind.LEADER_EPOCH, place), {})
        return len(epochs) > len(set(epochs.values()))

    def knows(self, kind: Kind, scope: Any, recorded: Any) -> bool:
        """Return whether a recorded id has a counterpart."""
        return recorded in self._to_target.get((kind, scope), {})

    def topic_id_of(self, target_id: bytes) -> bytes:
        """Return the recorded id of a topic."""
        found: bytes = self._to_recorded.get((Kind.UUID, None), {}).get(target_id, target_id)
        return found

    def shifted(self, place: TopicPartition, offset: int) -> int:
        """Return the target's offset; negative ones are none."""
        return offset if offset < 0 else offset + self.offset_shifts.get(place, 0)

    def topic(self, name: str | None, topic_id: bytes | None) -> str:
        """Return a topic's name, or its id as text while the name is unknown."""
        if name:
            return name
        return self.topic_names.get(topic_id or NO_UUID) or (topic_id or b"").hex()


def _is_none(kind: Kind, value: Any) -> bool:
    if isinstance(value, int):
        return value < 0 or (value == 0 and kind in _FROM_ONE)
    return not value or value == NO_UUID

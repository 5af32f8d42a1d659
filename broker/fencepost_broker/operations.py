"""What a test can do to a running broker at once, without waiting for time or a failure.

    broker = Broker(topics={"orders": 1})
    await broker.perform(TimeOutTransaction(transactional_id="payments"))

Each operation is a struct, which JSON reads by its ``type``:
``{"type": "time-out-transaction", "transactional_id": "payments"}``. An operation does what Kafka
does when the time has come or an administrator asks for it, and writes the same records. One that
cannot work raises ``OperationRefusedError`` and changes nothing.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Generic, Literal, TypeAlias, TypeVar, get_args

import msgspec

ResultT_co = TypeVar("ResultT_co", covariant=True)
_Meta = msgspec.Meta
EPOCH_MAX: Final = (1 << 15) - 2
"""The last epoch that a producer gets."""


class OperationRefusedError(Exception):
    """An operation cannot work; the message says what is wrong, where, and what to do."""

    def __init__(self, detail: str, broker: int | None = None) -> None:
        """``broker`` is the broker that can carry it out, if it is another one."""
        super().__init__(detail)
        self.broker = broker


def _tag(name: str) -> str:
    """Return the name of an operation in JSON: ``MoveLeader`` is ``move-leader``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


class Operation(
    msgspec.Struct,
    Generic[ResultT_co],
    kw_only=True,
    forbid_unknown_fields=True,
    tag=_tag,
    tag_field="type",
):
    """An operation with the type of its result."""


def _tag_of_result(name: str) -> str:
    """Return the type of a result in JSON: ``TransactionNow`` is ``transaction``."""
    return _tag(name.removesuffix("Now"))


class Result(msgspec.Struct, tag=_tag_of_result, tag_field="type"):
    """State after an operation."""


# -- fields that several have --------------------------------------------------------------------

_Partition = Annotated[int, _Meta(ge=0, description="Number of the partition.")]
_Topic = Annotated[str, _Meta(description="Name of the topic.")]
_TransactionalId = Annotated[str, _Meta(description="Transactional id of the producer.")]
_Group = Annotated[str, _Meta(description="Group id.")]
_Member = Annotated[str, _Meta(description="Member id or group.instance.id of the member.")]
_ProducerId = Annotated[int, _Meta(ge=0, description="Producer id.")]


# -- results -------------------------------------------------------------------------------------


class TransactionNow(Result, kw_only=True):
    """A transactional id after an operation."""

    transactional_id: _TransactionalId
    state: Annotated[str, _Meta(description="State, by Kafka's name; Dead: the id is unknown.")]
    producer_id: Annotated[int, _Meta(description="Producer id; -1 without one.")]
    producer_epoch: Annotated[int, _Meta(description="Epoch of the producer id; -1 without one.")]


class MarkersNow(Result, kw_only=True):
    """Markers after an operation."""

    holds: Annotated[int, _Meta(description="Number of holds that are in force.")]


class ProducersNow(Result, kw_only=True):
    """Producers of a partition after an operation."""

    topic: _Topic
    partition: _Partition
    producer_ids: Annotated[list[int], _Meta(description="Ids that the partition still knows.")]
    last_stable_offset: Annotated[int, _Meta(description="Offset up to which consumers read.")]


class GroupNow(Result, kw_only=True):
    """A group after an operation."""

    group: _Group
    state: Annotated[str, _Meta(description="State, by Kafka's name.")]
    generation: Annotated[int, _Meta(description="Generation, or epoch of a KIP-848 group.")]
    members: Annotated[list[str], _Meta(description="Member ids.")]


class CoordinatorNow(Result, kw_only=True):
    """A partition of a coordinator's topic after an operation."""

    topic: Annotated[str, _Meta(description="__consumer_offsets or __transaction_state.")]
    partition: _Partition
    is_loaded: Annotated[bool, _Meta(description="Whether its coordinator answers requests.")]


class PartitionNow(Result, kw_only=True):
    """A partition after an operation."""

    topic: _Topic
    partition: _Partition
    leader: Annotated[int, _Meta(description="Broker id of the leader; -1 without one.")]
    replicas: Annotated[list[int], _Meta(description="Broker ids; the preferred leader first.")]
    in_sync: Annotated[list[int], _Meta(description="Broker ids of the in-sync replicas.")]


class BrokerNow(Result, kw_only=True):
    """A broker after an operation."""

    broker: Annotated[int, _Meta(description="Broker id.")]
    is_fenced: Annotated[bool, _Meta(description="Whether it may lead no partition.")]


# -- transactions --------------------------------------------------------------------------------


class TimeOutTransaction(Operation[TransactionNow], kw_only=True):
    """Abort an open transaction now, as its transaction.timeout.ms does; its producer is fenced."""

    transactional_id: _TransactionalId


class FenceProducer(Operation[TransactionNow], kw_only=True):
    """Fence a producer, as Admin.fenceProducers does; an open transaction is aborted first."""

    transactional_id: _TransactionalId


class BumpProducerEpoch(Operation[TransactionNow], kw_only=True):
    """Bump a producer's epoch between two transactions; its client may ask for the new one."""

    transactional_id: _TransactionalId
    epoch: Annotated[
        Annotated[int, _Meta(ge=0, le=EPOCH_MAX)] | None,
        _Meta(description="New epoch; 32766 is the last one of a producer id. Default: the next."),
    ] = None


class ExpireTransactionalId(Operation[TransactionNow], kw_only=True):
    """Forget an unused transactional id now, as transactional.id.expiration.ms does."""

    transactional_id: _TransactionalId


class ForgetProducer(Operation[ProducersNow], kw_only=True):
    """Let a partition forget a producer id now, as producer.id.expiration.ms does."""

    topic: _Topic
    partition: _Partition
    producer_id: _ProducerId


class AbortHangingTransaction(Operation[ProducersNow], kw_only=True):
    """Write an abort marker to one partition, as Admin.abortTransaction does."""

    topic: _Topic
    partition: _Partition
    producer_id: _ProducerId


class _ChosenMarkers(Operation[MarkersNow], kw_only=True):
    transactional_id: Annotated[
        str | None, _Meta(description="Only markers of this transactional id.")
    ] = None
    topic: Annotated[str | None, _Meta(description="Only markers of this topic.")] = None
    partition: Annotated[
        Annotated[int, _Meta(ge=0)] | None,
        _Meta(description="Only markers of partitions with this number."),
    ] = None


class HoldMarkers(_ChosenMarkers):
    """Hold back the markers of ended transactions until they are released."""


class ReleaseMarkers(_ChosenMarkers):
    """End the holds that were begun with these criteria; without criteria, all holds."""


# -- groups --------------------------------------------------------------------------------------


class RebalanceGroup(Operation[GroupNow], kw_only=True):
    """Begin a rebalance: members of a classic group rejoin, a KIP-848 group gets a new epoch."""

    group: _Group


class RemoveMember(Operation[GroupNow], kw_only=True):
    """Remove a member, as Admin.removeMembersFromConsumerGroup does; its client may rejoin."""

    group: _Group
    member: _Member


class ExpireSession(Operation[GroupNow], kw_only=True):
    """End a member's session now, as if it had sent no heartbeat for its session timeout."""

    group: _Group
    member: _Member


# -- coordinators --------------------------------------------------------------------------------


class _OfCoordinator(Operation[ResultT_co], Generic[ResultT_co], kw_only=True):
    group: Annotated[str | None, _Meta(description="Group whose coordinator it is about.")] = None
    transactional_id: Annotated[
        str | None, _Meta(description="Transactional id whose coordinator it is about.")
    ] = None

    def __post_init__(self) -> None:
        if (self.group is None) == (self.transactional_id is None):
            raise ValueError("name either a group or a transactional_id")


class UnloadCoordinator(_OfCoordinator[CoordinatorNow], kw_only=True):
    """Unload the coordinator of a group or a transactional id until load-coordinator.

    Others that hash to the same partition of its topic are unloaded, too.
    """

    answer: Annotated[
        Literal["NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"],
        _Meta(description="Error that clients get in the meantime."),
    ] = "NOT_COORDINATOR"


class LoadCoordinator(_OfCoordinator[CoordinatorNow], kw_only=True):
    """Load a coordinator that was unloaded, from its log."""


class MoveCoordinator(_OfCoordinator[PartitionNow], kw_only=True):
    """Make another broker the coordinator: the leader of the partition of the coordinator's topic.

    Others that hash to the same partition move, too.
    """

    broker: Annotated[int, _Meta(description="Broker id of the new coordinator.")]


class CrashAtStep(Operation[BrokerNow], kw_only=True):
    """Let the broker's process end as after a power cut, at a step of a transaction.

    The coordinators are loaded anew, so that they tell their steps. A broker in a Python program
    takes the program with it.
    """

    step: Annotated[
        str,
        _Meta(description="Step, or a pattern: transaction.PrepareCommit.after, marker.*.before."),
    ]
    which: Annotated[int, _Meta(ge=1, description="The first such step, or a later one.")] = 1


# -- the cluster ---------------------------------------------------------------------------------


class MoveLeader(Operation[PartitionNow], kw_only=True):
    """Make a broker with an in-sync replica the partition's leader and its first replica."""

    topic: _Topic
    partition: _Partition
    broker: Annotated[int, _Meta(description="Broker id of the new leader.")]


class ShrinkIsr(Operation[PartitionNow], kw_only=True):
    """Remove a follower from the in-sync replicas; it joins again when it has caught up."""

    topic: _Topic
    partition: _Partition
    broker: Annotated[int, _Meta(description="Broker id of the follower.")]


class FenceBroker(Operation[BrokerNow], kw_only=True):
    """Fence a broker: it leads nothing until its next heartbeat, or until unfence-broker."""

    broker: Annotated[int, _Meta(description="Broker id.")]


class UnfenceBroker(Operation[BrokerNow], kw_only=True):
    """Unfence a broker, as its heartbeat does."""

    broker: Annotated[int, _Meta(description="Broker id.")]


AnyOperation: TypeAlias = (
    TimeOutTransaction
    | FenceProducer
    | BumpProducerEpoch
    | ExpireTransactionalId
    | ForgetProducer
    | AbortHangingTransaction
    | HoldMarkers
    | ReleaseMarkers
    | RebalanceGroup
    | RemoveMember
    | ExpireSession
    | UnloadCoordinator
    | LoadCoordinator
    | MoveCoordinator
    | CrashAtStep
    | MoveLeader
    | ShrinkIsr
    | FenceBroker
    | UnfenceBroker
)
"""Any operation, as JSON and TOML name it."""

AnyResult: TypeAlias = (
    TransactionNow
    | MarkersNow
    | ProducersNow
    | GroupNow
    | CoordinatorNow
    | PartitionNow
    | BrokerNow
)
"""The result of any operation."""

OPERATIONS: Final[dict[str, type[Operation[Any]]]] = {
    str(each.__struct_config__.tag): each for each in get_args(AnyOperation)
}
"""The operations by name."""

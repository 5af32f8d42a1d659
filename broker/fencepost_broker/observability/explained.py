"""Explanations of waiting: what a transaction waits for, and which one blocks readers.

A consumer of committed records gets none after the *last stable offset* (LSO), where the oldest
open transaction of the partition begins. That transaction holds the LSO until a marker ends it. If
its coordinator does not have it open (any more), no marker will come: the transaction *hangs*, and
an administrator must abort it (KIP-664).

``str`` of an explanation is the text that ``fencepost transactions explain`` prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from fencepost_client.admin.transactions import ONGOING
from fencepost_client.commands.text import count, duration, moment, table

COMMAND: Final = "fencepost transactions"
"""Beginning of the commands that an explanation advises, unless the caller has another one."""


@dataclass(frozen=True, slots=True)
class MissingMarker:
    """A marker that its partition's leader has not acknowledged."""

    topic: str
    partition: int
    broker_id: int | None
    last_error: str | None
    is_held: bool


@dataclass(frozen=True, slots=True)
class ExplainedClient:
    """A client, and whether it is still connected."""

    client_id: str | None
    address: str
    is_connected: bool


@dataclass(frozen=True, slots=True)
class KeepingProducer:
    """A producer that has kept an open transaction and may end it (KIP-939)."""

    producer_id: int
    producer_epoch: int


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A request that is answered after the markers are written (KIP-609)."""

    api: str
    client: ExplainedClient | None
    """``None`` if the broker sent it to itself."""


@dataclass(frozen=True, slots=True)
class LsoHolder:
    """The transaction that holds a last stable offset."""

    producer_id: int
    producer_epoch: int
    start_offset: int
    transactional_id: str | None
    coordinator_id: int | None
    state: str | None
    hangs: bool
    """Whether no coordinator will end it."""
    ends_in_ms: int | None
    """Time until it is aborted; ``None``: it waits for its marker, or has no time limit."""


@dataclass(frozen=True, slots=True)
class ExplainedPartition:
    """How far readers of committed records can read, and the transaction that blocks them there."""

    topic: str
    partition: int
    leader_id: int
    last_stable_offset: int
    high_watermark: int
    lag: int
    start_offset: int | None
    """First offset of the explained transaction; ``None`` if it has no record in the partition."""
    holder: LsoHolder | None

    def __str__(self) -> str:
        return "\n".join(lines_of_partition(self, COMMAND))


@dataclass(frozen=True, slots=True)
class ExplainedTransaction:
    """State of a transaction, and what it waits for."""

    transactional_id: str
    coordinator_id: int
    coordinator: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    now_ms: int
    """By the coordinator's clock, or else this machine's."""
    started_ms: int | None
    since_ms: int | None
    ends_in_ms: int | None
    """Time until an open transaction is aborted."""
    expires_in_ms: int | None
    markers: list[MissingMarker] | None
    repeats: int | None
    requests: list[WaitingRequest] | None
    not_told: bool
    """The broker is not Fencepost, so some fields are unknown."""
    client: ExplainedClient | None = None
    """The last client that used this id; ``None`` if none did since the coordinator loaded it."""
    partitions: list[ExplainedPartition] = field(default_factory=list)
    kept_by: KeepingProducer | None = None
    """The producer that has kept the open transaction."""

    def __str__(self) -> str:
        return "\n".join(lines_of_transaction(self, COMMAND))


_WHEN_ITS_PRODUCER_ENDS_IT: Final = "when its producer ends it; no timeout (two-phase commit)"
_ENDINGS = {"PrepareCommit": "commit", "PrepareAbort": "abort", "PrepareEpochFence": "abort"}


def lines_of_transaction(told: ExplainedTransaction, command: str) -> Iterator[str]:
    """Yield lines about a transactional id; ``command`` begins the commands that are advised."""
    yield (
        f"{told.transactional_id}: {told.state}, at broker {told.coordinator_id}"
        f" ({told.coordinator}), producer {told.producer_id} epoch {told.producer_epoch}"
    )
    if told.client is not None:
        yield f"  client          {_client(told.client)}"
    if told.since_ms is not None:
        age = duration(told.now_ms - told.since_ms)
        yield f"  last step       {moment(told.since_ms)}, {age} ago"
    if told.state == ONGOING and told.started_ms is not None:
        age = duration(told.now_ms - told.started_ms)
        yield f"  began           {moment(told.started_ms)}, {age} ago"
    yield from _waits(told)
    if told.not_told:
        yield (
            "  not known       its last step, missing markers and waiting requests:"
            " this broker is not Fencepost"
        )
    if told.partitions:
        yield ""
        yield from table(
            ("PARTITION", "LEADER", "BEGINS AT", "LSO", "HIGH WATERMARK", "LAG", "LSO IS HELD BY"),
            (
                (
                    f"{each.topic}-{each.partition}",
                    each.leader_id,
                    each.start_offset,
                    each.last_stable_offset,
                    each.high_watermark,
                    each.lag,
                    _held_by(each, told.producer_id),
                )
                for each in told.partitions
            ),
        )
        for each in told.partitions:
            if each.holder is not None and each.holder.hangs:
                yield from _advice(each, each.holder, command)


def _waits(told: ExplainedTransaction) -> Iterator[str]:
    if told.state == ONGOING:
        who = "its producer"
        if told.kept_by is not None:
            kept_by = told.kept_by
            who = f"producer {kept_by.producer_id} epoch {kept_by.producer_epoch}"
            who += ", which has kept it"
        yield f"  waits for       {who}, to commit or abort it"
        if told.ends_in_ms is None:
            yield f"  ends            {_WHEN_ITS_PRODUCER_ENDS_IT}"
        else:
            limit = f"timeout {duration(told.timeout_ms)}"
            yield f"  ends            in {_left(told.ends_in_ms)} at the latest, by abort ({limit})"
    elif told.state in _ENDINGS:
        missing = len(told.partitions) if told.markers is None else len(told.markers)
        outcome = _ENDINGS[told.state]
        yield f"  waits for       {count(missing, f'{outcome} marker')}; no timeout ends this"
        for marker in told.markers or ():
            yield f"    {_marker(marker)}"
        if told.repeats:
            yield f"  sent again      {count(told.repeats, 'time')}"
    else:
        yield "  waits for       nothing: no transaction is open"
        if told.expires_in_ms is not None:
            yield f"  forgotten       in {_left(told.expires_in_ms)}, unless it is used"
    if told.requests:
        waiting = count(len(told.requests), "request")
        yield f"  blocks          {waiting}, answered when the markers are written:"
        for request in told.requests:
            who = "the broker" if request.client is None else f"client {_client(request.client)}"
            yield f"    {request.api} of {who}"


def _client(client: ExplainedClient) -> str:
    name = client.client_id or "(no client id)"
    if not client.address:
        return name
    state = "connected" if client.is_connected else "its connection is CLOSED"
    return f"{name} at {client.address}, {state}"


def _marker(marker: MissingMarker) -> str:
    where = "no leader" if marker.broker_id is None else f"broker {marker.broker_id}"
    state = "under way"
    if marker.is_held:
        state = "held back by a test (Broker.hold_markers)"
    elif marker.last_error is not None:
        state = f"the last attempt failed: {marker.last_error}"
    return f"{marker.topic}-{marker.partition} at {where}: {state}"


def lines_of_partition(told: ExplainedPartition, command: str) -> Iterator[str]:
    """Yield lines about a partition; ``command`` begins the commands that are advised."""
    yield (
        f"{told.topic}-{told.partition} at broker {told.leader_id}: last stable offset"
        f" {told.last_stable_offset}, high watermark {told.high_watermark}"
    )
    if told.holder is None:
        if told.lag:
            yield f"  no transaction is open; {count(told.lag, 'offset')} wait for replicas"
        else:
            yield "  no transaction is open: readers of committed records can read everything"
        return
    yield f"  readers wait    for {count(told.lag, 'offset')}"
    yield f"  held by         {_holder(told.holder)}"
    if told.holder.hangs:
        yield from _advice(told, told.holder, command)
    elif told.holder.ends_in_ms is not None:
        yield f"  ends            in {_left(told.holder.ends_in_ms)} at the latest, by abort"
    elif told.holder.state == ONGOING:
        yield f"  ends            {_WHEN_ITS_PRODUCER_ENDS_IT}"
    else:
        yield (
            f"  ends            when it is ended: {command} explain {told.holder.transactional_id}"
        )


def _held_by(told: ExplainedPartition, explained: int) -> str:
    holder = told.holder
    if holder is None:
        return "no transaction" if not told.lag else "no transaction: followers lag"
    if holder.producer_id == explained and not holder.hangs:
        return f"this transaction, since offset {holder.start_offset}"
    return _holder(holder)


def _holder(holder: LsoHolder) -> str:
    text = f"producer {holder.producer_id} epoch {holder.producer_epoch}"
    if holder.transactional_id is None:
        text += ", which no coordinator knows"
    else:
        text += f" of {holder.transactional_id} ({holder.state})"
    text += f", since offset {holder.start_offset}"
    if holder.hangs:
        return f"{text}: it HANGS"
    if holder.ends_in_ms is not None:
        return f"{text}, for at most {_left(holder.ends_in_ms)}"
    if holder.state == ONGOING:
        return f"{text}, without a timeout (two-phase commit)"
    return text


def _left(ms: int) -> str:
    return duration(max(ms, 0))


def _advice(told: ExplainedPartition, holder: LsoHolder, command: str) -> Iterator[str]:
    yield "  it hangs        no coordinator will end it; end it with:"
    yield (
        f"    {command} abort --topic {told.topic} --partition {told.partition}"
        f" --start-offset {holder.start_offset}"
    )

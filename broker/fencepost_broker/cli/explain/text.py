"""An explanation as people read it."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost_client.admin.transactions import ONGOING
from fencepost_client.commands.text import count, duration, moment, table

from fencepost_broker.cli.explain.queries import (
    ExplainedPartition,
    ExplainedTransaction,
    Holder,
    Marker,
)

_ENDINGS = {"PrepareCommit": "commit", "PrepareAbort": "abort", "PrepareEpochFence": "abort"}


def of_transaction(told: ExplainedTransaction, command: str) -> Iterator[str]:
    """Lines about a transactional id; ``command`` begins what is advised."""
    yield (
        f"{told.transactional_id}: {told.state}, at broker {told.coordinator_id}"
        f" ({told.coordinator}), producer {told.producer_id} epoch {told.producer_epoch}"
    )
    if told.since_ms is not None:
        age = duration(told.now_ms - told.since_ms)
        yield f"  last step       {moment(told.since_ms)}, {age} ago"
    if told.state == ONGOING and told.started_ms is not None:
        age = duration(told.now_ms - told.started_ms)
        yield f"  began           {moment(told.started_ms)}, {age} ago"
    yield from _waits(told)
    if told.not_told:
        yield (
            "  not told        its last step, markers on their way, requests behind them:"
            " this broker is no Fencepost"
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
        yield "  waits for       its producer, to commit or abort it"
        if told.ends_in_ms is None:
            yield "  ends            when its producer says so; no timeout (two-phase commit)"
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
        yield f"  behind it       {waiting}, to be answered when the markers are there:"
        for request in told.requests:
            yield f"    {request.api} of client {request.client_id or '(without a name)'}"


def _marker(marker: Marker) -> str:
    where = "no leader" if marker.broker_id is None else f"broker {marker.broker_id}"
    state = "under way"
    if marker.is_held:
        state = "held back by a test (Broker.hold_markers)"
    elif marker.last_error is not None:
        state = f"the last attempt failed: {marker.last_error}"
    return f"{marker.topic}-{marker.partition} at {where}: {state}"


def of_partition(told: ExplainedPartition, command: str) -> Iterator[str]:
    """Lines about a partition; ``command`` begins what is advised."""
    yield (
        f"{told.topic}-{told.partition} at broker {told.leader_id}: last stable offset"
        f" {told.last_stable_offset}, high watermark {told.high_watermark}"
    )
    if told.holder is None:
        if told.lag:
            yield f"  no transaction is open; {count(told.lag, 'offset')} wait for replicas"
        else:
            yield "  no transaction is open: readers of committed records get all there is"
        return
    yield f"  readers wait    for {count(told.lag, 'offset')}"
    yield f"  held by         {_holder(told.holder)}"
    if told.holder.hangs:
        yield from _advice(told, told.holder, command)
    elif told.holder.ends_in_ms is not None:
        yield f"  ends            in {_left(told.holder.ends_in_ms)} at the latest, by abort"
    else:
        yield (
            f"  ends            when it is ended: {command} explain {told.holder.transactional_id}"
        )


def _held_by(told: ExplainedPartition, explained: int) -> str:
    holder = told.holder
    if holder is None:
        return "nobody" if not told.lag else "nobody: replicas lag behind"
    if holder.producer_id == explained and not holder.hangs:
        return f"this transaction, since offset {holder.start_offset}"
    return _holder(holder)


def _holder(holder: Holder) -> str:
    text = f"producer {holder.producer_id} epoch {holder.producer_epoch}"
    if holder.transactional_id is None:
        text += ", which no coordinator knows"
    else:
        text += f" of {holder.transactional_id} ({holder.state})"
    text += f", since offset {holder.start_offset}"
    if holder.hangs:
        return f"{text}: it HANGS"
    if holder.ends_in_ms is not None:
        return f"{text}, for {_left(holder.ends_in_ms)} at most"
    return text


def _left(ms: int) -> str:
    return duration(max(ms, 0))


def _advice(told: ExplainedPartition, holder: Holder, command: str) -> Iterator[str]:
    yield "  it hangs        no coordinator will end it; this does:"
    yield (
        f"    {command} abort --topic {told.topic} --partition {told.partition}"
        f" --start-offset {holder.start_offset}"
    )

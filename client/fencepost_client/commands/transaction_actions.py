"""The subcommands of ``fencepost transactions``: ask, then write a table or JSON.

Names that do not exist are found out first and at once, with what may have been meant.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable, Sequence
from typing import Any, Final

from fencepost_client.admin.hanging import HangingTransaction, TransactionMarker
from fencepost_client.admin.topics import PartitionDescription
from fencepost_client.admin.transactions import (
    NEVER_MS,
    ProducerDescription,
    ProducerIdentity,
    TransactionDescription,
)
from fencepost_client.clients.admin import Admin
from fencepost_client.commands.errors import NotDoneError, NotYetError, UsageError
from fencepost_client.commands.output import plain, write, write_json, write_table
from fencepost_client.commands.runner import Action, retry_until_timeout
from fencepost_client.commands.text import count, duration, moment
from fencepost_client.consumer.list_offsets import LATEST
from fencepost_client.errors import (
    TransactionalIdNotFoundError,
    TransactionKeptOpenError,
    UnknownTopicOrPartitionError,
)
from fencepost_client.types import TopicPartition

STATES: Final = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead",
    "PrepareEpochFence",
)  # fmt: skip
_MINUTE_MS: Final = 60_000
_NO_LEADER: Final = -1


# -- what people ask about, by its name -----------------------------------------------------------


async def described(admin: Admin, ids: Sequence[str]) -> list[TransactionDescription]:
    """These ids in this order; says what may have been meant by one that nobody knows."""
    try:
        found = await admin.describe_transactions(ids)
    except TransactionalIdNotFoundError as error:
        missing = next(each for each in ids if isinstance(error.outcomes[each], type(error)))
        known = [each.transactional_id for each in await admin.list_transactions()]
        raise NotDoneError(
            f"there is no transactional id {missing!r}{_did_you_mean(missing, known)}"
        ) from error
    return list(found.values())


async def partitions_of(admin: Admin, topic: str) -> Sequence[PartitionDescription]:
    """The partitions of a topic; says what may have been meant by one that is not there."""
    try:
        return (await admin.describe_topics([topic]))[topic].partitions
    except UnknownTopicOrPartitionError as error:
        known = await admin.list_topics(include_internal=True)
        raise NotDoneError(f"there is no topic {topic!r}{_did_you_mean(topic, known)}") from error


async def leader_of(admin: Admin, partition: TopicPartition, timeout_s: float) -> int:
    """The broker that leads a partition; waits for one to be elected."""
    topic, number = partition

    async def leader() -> int:
        leaders = {each.partition: each.leader for each in await partitions_of(admin, topic)}
        if number not in leaders:
            raise NotDoneError(
                f"there is no partition {number} of topic {topic!r}, which has 0 to {max(leaders)}"
            )
        if leaders[number] == _NO_LEADER:
            raise NotYetError(f"{topic}-{number} has no leader at present")
        return leaders[number]

    return await retry_until_timeout(leader, timeout_s)


async def producers_of(
    admin: Admin, partition: TopicPartition, broker_id: int | None = None
) -> tuple[ProducerDescription, ...]:
    """The producers that a partition knows, by its leader or by the broker that is named."""
    return (await admin.describe_producers([partition], broker_id=broker_id))[partition]


async def stable_and_high(admin: Admin, partition: TopicPartition) -> tuple[int, int]:
    """Last stable offset and high watermark of a partition."""
    # In this order: a commit in between lets the lag be too large, never negative.
    stable = await admin.list_offsets({partition: LATEST}, read_committed=True)
    high = await admin.list_offsets({partition: LATEST})
    return stable[partition].offset, high[partition].offset


async def _check_broker(admin: Admin, broker_id: int | None) -> None:
    known = [each.broker_id for each in (await admin.describe_cluster()).brokers]
    if broker_id is not None and broker_id not in known:
        raise NotDoneError(
            f"there is no broker {broker_id}; the brokers are: {', '.join(map(str, sorted(known)))}"
        )


def _did_you_mean(given: str, known: Iterable[str]) -> str:
    """What somebody may have wanted to type."""
    near = difflib.get_close_matches(given, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


# -- transactions ---------------------------------------------------------------------------------


async def _list(admin: Admin, options: argparse.Namespace) -> None:
    found = await admin.list_transactions(
        states=[_state(each) for each in options.state],
        producer_ids=options.producer_id,
        longer_than_ms=options.longer_than,
        pattern=options.pattern,
    )
    if options.json:
        write_json(found)
        return
    is_filtered = options.state or options.producer_id or options.pattern is not None
    write_table(
        ("TRANSACTIONAL ID", "COORDINATOR", "PRODUCER ID", "STATE"),
        [(each.transactional_id, each.coordinator_id, each.producer_id, each.state)
         for each in found],
        "no transactional ids"
        + (" like that" if is_filtered or options.longer_than is not None else ""),
    )  # fmt: skip


def _state(text: str) -> str:
    names = {name.lower(): name for name in STATES}
    if text.lower() in names:
        return names[text.lower()]
    near = difflib.get_close_matches(text.lower(), names, 1)
    hint = f"did you mean {names[near[0]]}?" if near else f"there are {', '.join(STATES)}"
    raise UsageError(f"--state {text}: there is no such state; {hint}")


async def _describe(admin: Admin, options: argparse.Namespace) -> None:
    ids = [*options.ids, *options.transactional_id]
    if not ids or "" in ids:
        raise UsageError("no transactional id is given: `fencepost transactions list` shows them")
    found = await described(admin, ids)
    if options.json:
        write_json([_as_object(each) for each in found])
        return
    for at, each in enumerate(found):
        kept_by = _kept_by(each)
        rows = (
            ("transactional id", each.transactional_id),
            ("coordinator", f"broker {each.coordinator_id}"),
            ("producer id", each.producer_id),
            ("producer epoch", each.producer_epoch),
            ("state", each.state),
            ("kept by", "-" if kept_by is None else "producer {} epoch {}".format(*kept_by)),
            ("timeout", _timeout(each)),
            ("began", moment(each.started_ms)),
            ("open for", duration(each.duration_ms)),
            ("partitions", ", ".join(f"{topic}-{number}" for topic, number in each.partitions)
             or "-"),
        )  # fmt: skip
        if at:
            write("")
        for name, value in rows:
            write(f"{name:<18}{value}")


def _timeout(each: TransactionDescription) -> str:
    if each.timeout_ms == NEVER_MS:
        return "none (two-phase commit)"
    return duration(each.timeout_ms)


def _kept_by(each: TransactionDescription) -> ProducerIdentity | None:
    return None if each.explanation is None else each.explanation.kept_by


def _as_object(each: TransactionDescription) -> dict[str, object]:
    return {
        "coordinator_id": each.coordinator_id,
        "transactional_id": each.transactional_id,
        "producer_id": each.producer_id,
        "producer_epoch": each.producer_epoch,
        "state": each.state,
        "timeout_ms": each.timeout_ms,
        "started_ms": each.started_ms,
        "duration_ms": each.duration_ms,
        "partitions": each.partitions,
        "kept_by": _kept_by(each),
    }


async def _force_terminate(admin: Admin, options: argparse.Namespace) -> None:
    transactional_id = options.transactional_id
    if not transactional_id:
        raise UsageError("--transactional-id is empty: `fencepost transactions list` shows ids")
    await described(admin, [transactional_id])  # Otherwise the request would create the id.
    await admin.force_terminate_transaction(transactional_id)
    if options.json:
        [ended] = await described(admin, [transactional_id])
        write_json(_as_object(ended))
        return
    write(f"terminated: {transactional_id} has no open transaction, and its producer is fenced")


# -- partitions -----------------------------------------------------------------------------------


async def _producers(admin: Admin, options: argparse.Namespace) -> None:
    partition = TopicPartition(options.topic, options.partition)
    await leader_of(admin, partition, options.timeout)
    await _check_broker(admin, options.broker_id)
    found = await producers_of(admin, partition, options.broker_id)
    if options.json:
        write_json(found)
        return
    write_table(
        ("PRODUCER ID", "EPOCH", "COORDINATOR EPOCH", "LAST SEQUENCE", "LAST TIMESTAMP",
         "OPEN SINCE OFFSET"),
        [
            (
                each.producer_id, each.producer_epoch, each.coordinator_epoch, each.last_sequence,
                moment(each.last_timestamp_ms), each.start_offset,
            )
            for each in found
        ],
        f"no producer with an id has written to {options.topic}-{options.partition}",
    )  # fmt: skip


async def _find_hanging(admin: Admin, options: argparse.Namespace) -> None:
    if options.partition is not None and options.topic is None:
        raise UsageError("--partition needs --topic")
    older_than_ms = int(options.max_transaction_timeout * _MINUTE_MS)
    await _check_broker(admin, options.broker_id)
    partitions = None if options.topic is None else await _candidates(admin, options)
    found = await admin.find_hanging_transactions(
        partitions, broker_id=options.broker_id, older_than_ms=older_than_ms
    )
    if options.json:
        write_json([_flat(each) for each in found])
        return
    looked = "all partitions" if partitions is None else count(len(partitions), "partition")
    write_table(
        ("TOPIC", "PARTITION", "PRODUCER ID", "EPOCH", "COORDINATOR EPOCH", "START OFFSET",
         "LAST TIMESTAMP", "DURATION", "TRANSACTIONAL ID"),
        [
            (
                *each.partition, each.producer_id, each.producer_epoch,
                each.coordinator_epoch, each.start_offset, moment(each.last_timestamp_ms),
                duration(each.duration_ms), each.transactional_id,
            )
            for each in found
        ],
        f"no transaction is hanging in {looked} (older than {duration(older_than_ms)})",
    )  # fmt: skip


async def _candidates(admin: Admin, options: argparse.Namespace) -> list[TopicPartition]:
    """The partitions to look at: those that have a leader, or a replica at the broker named."""
    broker_id = options.broker_id
    if options.partition is not None:
        # This says what is wrong with a wrong number.
        await leader_of(admin, TopicPartition(options.topic, options.partition), options.timeout)
    return [
        TopicPartition(options.topic, each.partition)
        for each in await partitions_of(admin, options.topic)
        if options.partition in {None, each.partition}
        and (each.leader != _NO_LEADER if broker_id is None else broker_id in each.replicas)
    ]


def _flat(told: HangingTransaction | TransactionMarker) -> dict[str, Any]:
    """With topic and partition beside all else."""
    found = plain(told)
    return {**found.pop("partition"), **found}


async def _abort(admin: Admin, options: argparse.Namespace) -> None:
    partition = TopicPartition(options.topic, options.partition)
    by_producer = (options.producer_id, options.producer_epoch, options.coordinator_epoch)
    given = [each is not None for each in by_producer]
    if options.start_offset is not None and any(given):
        raise UsageError("--start-offset excludes the options for producer and epochs")
    if options.start_offset is None and not all(given):
        raise UsageError(
            "no transaction is given: use --start-offset, or --producer-id with --producer-epoch"
            " and --coordinator-epoch (find-hanging and describe-producers show them)"
        )
    await leader_of(admin, partition, options.timeout)
    if options.start_offset is None:
        wanted = TransactionMarker(partition, *by_producer)
    else:
        wanted = await _marker_for_offset(admin, partition, options.start_offset)
    try:
        await admin.abort_transaction(wanted, force=options.force)
    except TransactionKeptOpenError as error:
        raise NotDoneError(
            f"this transaction is not hanging: {error.message} --force aborts it in this partition"
            " all the same, which tears it apart if it is committed later"
        ) from error
    stable, high = await stable_and_high(admin, partition)
    if options.json:
        ended = {"last_stable_offset": stable, "high_watermark": high}
        write_json({**_flat(wanted), **ended})
        return
    write(
        f"aborted in {options.topic}-{options.partition}: producer {wanted.producer_id} epoch"
        f" {wanted.producer_epoch}; readers of committed records get to offset {stable} of {high}"
        " now"
    )


async def _marker_for_offset(
    admin: Admin, partition: TopicPartition, start_offset: int
) -> TransactionMarker:
    """The marker that aborts the transaction which begins at an offset."""
    begun = [each for each in await producers_of(admin, partition) if each.start_offset is not None]
    for producer in begun:
        if producer.start_offset == start_offset:
            return TransactionMarker(
                partition,
                producer.producer_id,
                producer.producer_epoch,
                producer.coordinator_epoch or 0,
            )
    topic, number = partition
    there = ", ".join(f"offset {each.start_offset} (producer {each.producer_id})" for each in begun)
    raise NotDoneError(
        f"no transaction is open in {topic}-{number} that begins at offset {start_offset};"
        f" open are: {there or 'none'}"
    )


ACTIONS: Final[dict[str, Action]] = {
    "list": _list,
    "describe": _describe,
    "describe-producers": _producers,
    "find-hanging": _find_hanging,
    "force-terminate": _force_terminate,
    "abort": _abort,
}

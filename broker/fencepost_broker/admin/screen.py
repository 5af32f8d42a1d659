"""The subcommands of ``fencepost transactions``: ask, then write a table or JSON."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any, Final

from fencepost_client.admin.hanging import (
    TransactionMarker,
    abort_transaction,
    all_partitions,
    find_hanging,
)
from fencepost_client.admin.transactions import TransactionDescription, TransactionFilters
from fencepost_client.commands.text import count, duration, moment, printable, table
from fencepost_client.errors import TransactionKeptOpenError
from fencepost_client.types import TopicPartition

from fencepost_broker.adapters.peer import PeerError
from fencepost_broker.adapters.peers import Peers
from fencepost_broker.admin import explained_text
from fencepost_broker.admin.bootstrap import UsageError, addresses, command_for
from fencepost_broker.admin.explaining import explain_partition, explain_transaction
from fencepost_broker.admin.transactions import (
    all_transactions,
    described,
    leader_of,
    marker_for_offset,
    partitions_of,
    producers_of,
    stable_and_high,
)
from fencepost_broker.coordinators.transactions.states import NAMES

_MINUTE_MS: Final = 60_000


def perform(options: argparse.Namespace) -> None:
    """Do what a subcommand is for; a ``UsageError`` says what its options lack."""
    action = _ACTIONS[options.subcommand]
    with Peers(addresses(options.bootstrap), options.timeout) as peers:
        action(peers, options)


def _list(peers: Peers, options: argparse.Namespace) -> None:
    filters = TransactionFilters(
        [_state(each) for each in options.state],
        options.producer_id,
        options.longer_than,
        options.pattern,
    )
    found = all_transactions(peers, filters)
    if options.json:
        _write_json([asdict(each) for each in found])
        return
    _write_table(
        ("TRANSACTIONAL ID", "COORDINATOR", "PRODUCER ID", "STATE"),
        [(each.transactional_id, each.coordinator_id, each.producer_id, each.state)
         for each in found],
        "no transactional ids" + (" like that" if filters != TransactionFilters([], []) else ""),
    )  # fmt: skip


def _state(text: str) -> str:
    names = {name.lower(): name for name in NAMES.values()}
    if text.lower() in names:
        return names[text.lower()]
    near = difflib.get_close_matches(text.lower(), names, 1)
    hint = f"did you mean {names[near[0]]}?" if near else f"there are {', '.join(names.values())}"
    raise UsageError(f"--state {text}: there is no such state; {hint}")


def _describe(peers: Peers, options: argparse.Namespace) -> None:
    ids = [*options.ids, *options.transactional_id]
    if not ids or "" in ids:
        raise UsageError("which transactional id? `fencepost transactions list` shows them")
    found = described(peers, ids)
    if options.json:
        _write_json([_as_object(each) for each in found])
        return
    for at, each in enumerate(found):
        rows = (
            ("transactional id", each.transactional_id),
            ("coordinator", f"broker {each.coordinator_id}"),
            ("producer id", each.producer_id),
            ("producer epoch", each.producer_epoch),
            ("state", each.state),
            ("timeout", duration(each.timeout_ms)),
            ("began", moment(each.started_ms)),
            ("open for", duration(each.duration_ms)),
            ("partitions", ", ".join(f"{topic}-{number}" for topic, number in each.partitions)
             or "-"),
        )  # fmt: skip
        if at:
            _write("")
        for name, value in rows:
            _write(f"{name:<18}{value}")


def _as_object(each: TransactionDescription) -> dict[str, Any]:
    return {
        "coordinator_id": each.coordinator_id,
        "transactional_id": each.transactional_id,
        "producer_id": each.producer_id,
        "producer_epoch": each.producer_epoch,
        "state": each.state,
        "timeout_ms": each.timeout_ms,
        "started_ms": each.started_ms,
        "duration_ms": each.duration_ms,
        "partitions": [where._asdict() for where in each.partitions],
    }


def _producers(peers: Peers, options: argparse.Namespace) -> None:
    partition = TopicPartition(options.topic, options.partition)
    found = producers_of(peers, partition, options.broker_id)
    if options.json:
        _write_json([asdict(each) for each in found])
        return
    _write_table(
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


def _find_hanging(peers: Peers, options: argparse.Namespace) -> None:
    if options.partition is not None and options.topic is None:
        raise UsageError("--partition needs --topic")
    older_than_ms = int(options.max_transaction_timeout * _MINUTE_MS)
    partitions = peers.patiently(lambda: _candidates(peers, options))
    found = peers.run(
        find_hanging(partitions, options.broker_id, older_than_ms, peers.wall_ms(), peers.backoff())
    )
    if options.json:
        _write_json([_flat(asdict(each)) for each in found])
        return
    looked = count(len(partitions), "partition")
    _write_table(
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
        f"nothing hangs in {looked} (older than {duration(older_than_ms)})",
    )  # fmt: skip


def _candidates(peers: Peers, options: argparse.Namespace) -> list[TopicPartition]:
    """The partitions to look at: those that have a leader, or a replica at the broker named."""
    broker_id = options.broker_id
    if broker_id is not None:
        peers.name_of(broker_id)  # says which ones there are
    if options.topic is None:
        return peers.run(all_partitions(broker_id, peers.backoff()))
    if options.partition is not None:
        # This says what is wrong with a wrong number.
        leader_of(peers, TopicPartition(options.topic, options.partition))
    return [
        TopicPartition(options.topic, number)
        for number, replicas in partitions_of(peers, options.topic).items()
        if options.partition in {None, number}
        and (replicas[0] >= 0 if broker_id is None else broker_id in replicas)
    ]


def _flat(told: dict[str, Any]) -> dict[str, Any]:
    """With topic and partition beside all else."""
    topic, number = told.pop("partition")
    return {"topic": topic, "partition": number, **told}


def _abort(peers: Peers, options: argparse.Namespace) -> None:
    partition = TopicPartition(options.topic, options.partition)
    by_producer = (options.producer_id, options.producer_epoch, options.coordinator_epoch)
    given = [each is not None for each in by_producer]
    if options.start_offset is not None:
        if any(given):
            raise UsageError("--start-offset says all: leave producer and epochs away")
        wanted = marker_for_offset(peers, partition, options.start_offset)
    elif all(given):
        wanted = TransactionMarker(partition, *by_producer)
    else:
        raise UsageError(
            "which transaction? --start-offset, or --producer-id with --producer-epoch and"
            " --coordinator-epoch (find-hanging and describe-producers show them)"
        )
    peers.patiently(lambda: leader_of(peers, partition))
    try:
        peers.run(abort_transaction(wanted, peers.wall_ms(), peers.backoff(), force=options.force))
    except TransactionKeptOpenError as error:
        raise PeerError(
            f"this transaction does not hang: {error.message} --force aborts it in this partition"
            " all the same, which tears it apart if it is committed later"
        ) from error
    stable, high = stable_and_high(peers, partition)
    if options.json:
        ended = {"last_stable_offset": stable, "high_watermark": high}
        _write_json(_flat(wanted._asdict()) | ended)
        return
    _write(
        f"aborted in {options.topic}-{options.partition}: producer {wanted.producer_id} epoch"
        f" {wanted.producer_epoch}; readers of committed records get to offset {stable} of {high}"
        " now"
    )


def _explain(peers: Peers, options: argparse.Namespace) -> None:
    if (options.id is None) == (options.place is None) or options.id == "":
        raise UsageError("what? a transactional id, or --partition TOPIC:N")
    command = command_for(options.bootstrap)
    lines: Iterable[str]
    if options.id is not None:
        transaction = explain_transaction(peers, options.id)
        told, lines = asdict(transaction), explained_text.of_transaction(transaction, command)
    else:
        topic, colon, number = options.place.rpartition(":")
        if not colon or not topic or not (number.isascii() and number.isdigit()):
            raise UsageError(f"--partition {options.place}: it must be TOPIC:N, as in orders:0")
        partition = explain_partition(peers, TopicPartition(topic, int(number)))
        told, lines = asdict(partition), explained_text.of_partition(partition, command)
    if options.json:
        _write_json(told)
        return
    for line in lines:
        _write(line)


_ACTIONS: Final[dict[str, Callable[[Peers, argparse.Namespace], None]]] = {
    "list": _list,
    "describe": _describe,
    "describe-producers": _producers,
    "find-hanging": _find_hanging,
    "abort": _abort,
    "explain": _explain,
}


def _write_table(headings: tuple[str, ...], rows: list[tuple[object, ...]], nothing: str) -> None:
    """Rows under their headings; what there is none of is said where no program reads it."""
    if not rows:
        sys.stderr.write(f"{nothing}\n")
        return
    for line in table(headings, rows):
        _write(line)


def _write_json(told: Any) -> None:
    sys.stdout.write(f"{json.dumps(told, indent=2)}\n")


def _write(line: str) -> None:
    sys.stdout.write(f"{printable(line)}\n")

"""Plays traces of a transaction coordinator; tests/support/traces.py has their form.

Each id has a producer, which remembers the producer id and epoch that it was given last and uses
them; ``pid=`` and ``epoch=`` override them, ``epoch=-1`` or ``+1`` is relative to its own one,
``epoch==3`` absolute.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from fencepost_broker.coordinator.effects import Reply, Tell
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.coordinator.transaction import commands as c
from fencepost_broker.coordinator.transaction.describing import unknown_states
from fencepost_broker.coordinator.transaction.explanations import TransactionWaits
from fencepost_broker.coordinator.transaction.states import NAMES, State
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_transactions import TransactionState
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnResponse, EndTxnTopic
from fencepost_protocol.generated.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest

from tests.machine.coordinator.transaction.harness import Coordinator, Partition
from tests.support.traces import Step


class Player:
    """Plays one scenario."""

    def __init__(self) -> None:
        self.coordinator = Coordinator()
        self.identity: dict[str, tuple[int, int]] = {}
        self.sends: dict[str, list[c.SendMarkers]] = {}
        self.waiting: dict[str, tuple[int, str]] = {}
        self.begin_ms = self.coordinator.now_ms

    def play(self, step: Step) -> list[str]:
        """The outcome of a step."""
        told = []
        for line in step.asked:
            verb, *words = line.split()
            name, version = re.fullmatch(r"([a-z]+)(\d*)", verb).groups()  # type: ignore[union-attr]
            options = dict(word.split("=", 1) for word in words if "=" in word)
            plain = [word for word in words if "=" not in word]
            told_now = getattr(self, f"_{name}")(plain, options, version and int(version))
            told += [self._news(each) for each in self.coordinator.news]
            self.coordinator.news.clear()
            told += told_now
        return told

    # -- what producers and leaders ask ---------------------------------------------------------

    def _init(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        name = plain[0]
        gives_own = "own" in plain or "pid" in options or "epoch" in options
        producer_id, epoch = self._who(name, options) if gives_own else (-1, -1)
        request = InitProducerIdRequest(
            "" if name == "''" else name,
            int(options.get("timeout", 60_000)),
            producer_id,
            epoch,
            "2pc" in plain,
            "keep" in plain,
        )
        return self._asked(name, c.InitProducerId(request, 5 if version == "" else version))

    def _add(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        name, *partitions = plain
        return self._asked(
            name,
            c.AddPartitions(
                "" if name == "''" else name,
                *self._who(name, options),
                topics(partitions),
                3 if version == "" else version,
                group_id=options.get("group"),
            ),
        )

    def _implicit(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        name, *partitions = plain
        who = self._who(name, options)
        command = c.AddPartitions(name, *who, topics(partitions), 4, is_known=True)
        return self._asked(name, command)

    def _offsets(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        name, group = plain
        version = 3 if version == "" else version
        who = self._who(name, options)
        return self._asked(
            name,
            c.AddPartitions("" if name == "''" else name, *who, (), version, group_id=group),
        )

    def _verify(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        name, *partitions = plain
        who = self._who(name, options)
        return self._asked(name, c.VerifyPartitions(name, *who, topics(partitions)))

    def _end(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        name, outcome = plain
        producer_id, epoch = self._who(name, options)
        request = EndTxnRequest(
            "" if name == "''" else name,
            producer_id,
            epoch,
            {"commit": True, "abort": False}[outcome],
        )
        if "topics" in options:
            written = [each for each in options["topics"].split(",") if each]
            request.topics = [EndTxnTopic(*each) for each in topics(written)]
        return self._asked(name, c.EndTxn(request, 5 if version == "" else version))

    def _asked(self, name: str, command: Any) -> list[str]:
        if hasattr(command, "token"):
            command.token = object()
        answer = self.coordinator.ask(command)
        if answer is None:
            label = f"#{len(self.waiting) + 1}"
            self.waiting[label] = id(command.token), name
            self.waiting_tokens = getattr(self, "waiting_tokens", {}) | {label: command.token}
            return [f"waits {label}"]
        return [f"reply {self._answer(name, answer)}"]

    # -- markers and time -----------------------------------------------------------------------

    def _ack(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        name, *partitions = plain
        name, _, number = name.partition("#")
        send = self.sends[name][int(number) - 1 if number else -1]
        outcomes = [
            (topic, partition, ErrorCode.NONE)
            for topic, numbers in topics(partitions)
            for partition in numbers
        ]
        for each, error in options.items():
            outcomes.append((*partition_named(each), ErrorCode[error]))
        if not outcomes:
            outcomes = [(*each, ErrorCode.NONE) for each in list(send.pending)]
        is_complete = self.coordinator.ask(c.MarkersWritten(send, outcomes))
        assert not (is_complete and self.coordinator.machine.is_sending(send))
        return []

    def _wait(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        self.coordinator.wait(int(plain[0]))
        return []

    def _giveup(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        label = plain[0]
        name = self.waiting[label][1]
        assert self.coordinator.ask(c.GiveUp(name, self.waiting_tokens[label])) is None
        return []

    def _restart(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        self.coordinator.restart()
        return []

    def _deadline(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        at_ms = self.coordinator.machine.deadline()
        return [f"deadline {None if at_ms is None else at_ms - self.coordinator.now_ms}"]

    def _forget(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        """The producer forgets what it was told."""
        for each, value in options.items():
            producer_id, epoch = value.split("/")
            self.identity[each] = int(producer_id), int(epoch)
        return []

    def _set(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        coordinator = self.coordinator
        for name, value in options.items():
            if name == "tv":
                coordinator.cluster.version = int(value)
            elif name == "ids":
                coordinator.producer_ids.empty = value == "none"
            elif name == "missing":
                coordinator.cluster.missing = set(value.split(","))
            elif name == "leaderless":
                coordinator.cluster.leaderless = {partition_named(value)}
            elif name == "holds":
                coordinator.cluster.holding = {partition_named(value)}
            else:
                field = {"park": "park_enable", "2pc": "two_phase_commit_enable"}[name]
                settings = replace(coordinator.settings, **{field: value == "on"})
                coordinator.settings = coordinator.machine._context.settings = settings
        return []

    def _epoch(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        """The log says that an id is at another epoch, as after thousands of transactions."""
        [(name, value)] = options.items()
        transaction = self.coordinator.machine._transactions[name]
        record = transaction.next_value(State.EMPTY, self.coordinator.now_ms)
        record.producer_epoch = int(value)
        from fencepost_broker.metadata.decision import Decision

        decision = Decision[None](records=(self.coordinator.machine._context.record(name, record),))
        self.coordinator.carry_out(decision)
        self.coordinator.news.clear()
        self.identity[name] = transaction.logged.producer_id, int(value)
        return []

    # -- what people ask ------------------------------------------------------------------------

    def _describe(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        state: TransactionState = self.coordinator.ask(c.DescribeTransaction(plain[0]))
        if state.error_code:
            assert state == TransactionState(state.error_code, plain[0])
            return [ErrorCode(state.error_code).name]
        told = f"{state.transaction_state} {ErrorCode(state.error_code).name}"
        told += f" pid={state.producer_id} epoch={state.producer_epoch}"
        started = self._time(state.transaction_start_time_ms)
        told += f" timeout={state.transaction_timeout_ms} started={started}"
        return [f"{told} {shown({each.topic: each.partitions for each in state.topics})}"]

    def _list(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        request = ListTransactionsRequest(
            options["state"].split(",") if "state" in options else [],
            [int(options["pid"])] if "pid" in options else [],
            int(options.get("duration", -1)),
            options.get("pattern"),
        )
        matches = re.compile(options["pattern"]).search if "pattern" in options else None
        command = c.ListTransactions(
            request, (lambda name: bool(matches(name))) if matches else None
        )
        rows = self.coordinator.ask(command)
        unknown = unknown_states(request)
        return [
            f"{row.transactional_id} {row.transaction_state} pid={row.producer_id}" for row in rows
        ] + ([f"unknown {unknown}"] if unknown else [])

    def _explain(self, plain: list[str], options: dict[str, str], version: Any) -> list[str]:
        found: TransactionWaits | None = self.coordinator.ask(c.ExplainTransaction(plain[0]))
        if found is None:
            return ["unknown"]
        told = f"{found.state} pid={found.producer_id} epoch={found.producer_epoch}"
        for word, at_ms in (("times-out", found.times_out_ms), ("expires", found.expires_ms)):
            if at_ms is not None:
                told += f" {word}={self._time(at_ms)}"
        told += " kept-by={}/{}".format(*found.kept_by) if found.kept_by else ""
        told += f" requests={len(found.tokens)}" if found.tokens else ""
        return [told] + [
            f"  marker {each.topic}-{each.partition} broker={each.leader} {each.last_error.name}"
            for each in found.markers
        ]

    # -- showing --------------------------------------------------------------------------------

    def _news(self, news: Any) -> str:
        if isinstance(news, LogRecord):
            return self._record(news)
        if isinstance(news, c.SendMarkers):
            sends = self.sends.setdefault(news.transactional_id, [])
            sends.append(news)
            outcome = "commit" if news.is_commit else "abort"
            return (
                f"send {news.transactional_id}#{len(sends)} {outcome} pid={news.producer_id}"
                f" epoch={news.producer_epoch} tv={news.transaction_version}"
                f" by={news.coordinator_epoch} {shown(news.topics())}"
            )
        if isinstance(news, Tell):
            return f"tell {news.kind}{' !' if news.unexpected else ''}: {news.text}"
        assert isinstance(news, Reply)
        [label] = [each for each, token in self.waiting_tokens.items() if token is news.token]
        return f"reply {label} {self._answer(self.waiting[label][1], news.answer)}"

    def _record(self, record: LogRecord) -> str:
        key: Any = record.key
        value: Any = record.value
        if value is None:
            return f"log {key.transactional_id} gone"
        told = f"log {key.transactional_id} {NAMES[State(value.transaction_status)]}"
        told += f" v{record.value_version} pid={value.producer_id} epoch={value.producer_epoch}"
        if value.previous_producer_id != value.producer_id:
            told += f" previous={value.previous_producer_id}"
        if value.next_producer_id != -1:
            told += f" next={value.next_producer_id}"
        if value.next_producer_epoch != -1:
            told += f"/{value.next_producer_epoch}"
        told += f" client={value.client_transaction_version}"
        told += f" started={self._time(value.transaction_start_timestamp_ms)}"
        told += f" at={self._time(value.transaction_last_update_timestamp_ms)}"
        listed = value.transaction_partitions
        if listed is None:
            return f"{told} null timeout={value.transaction_timeout_ms}"
        return f"{told} {shown({each.topic: each.partition_ids for each in listed})}"

    def _answer(self, name: str, answer: Any) -> str:
        if isinstance(answer, c.Outcome):
            each = answer.each or {}
            return " ".join(
                [answer.error.name]
                + [f"{topic}-{number}={code.name}" for (topic, number), code in each.items()]
            )
        error = ErrorCode(answer.error_code)
        assert isinstance(answer, InitProducerIdResponse | EndTxnResponse)
        if not error and answer.producer_id != -1:
            self.identity[name] = answer.producer_id, answer.producer_epoch
        if answer.producer_id == -1:
            assert answer.producer_epoch == -1
            return error.name
        assert not error
        told = f"NONE pid={answer.producer_id} epoch={answer.producer_epoch}"
        if isinstance(answer, InitProducerIdResponse) and answer.ongoing_txn_producer_id != -1:
            told += f" ongoing={answer.ongoing_txn_producer_id}/{answer.ongoing_txn_producer_epoch}"
        return told

    def _time(self, at_ms: int) -> str:
        return "-" if at_ms == -1 else str(at_ms - self.begin_ms)

    def _who(self, name: str, options: dict[str, str]) -> tuple[int, int]:
        producer_id, epoch = self.identity.get(name, (-1, -1))
        if "pid" in options:
            producer_id = int(options["pid"])
        given = options.get("epoch", "")
        if given.startswith("="):
            epoch = int(given[1:])
        elif given:
            epoch += int(given)
        return producer_id, epoch


def partition_named(text: str) -> Partition:
    topic, _, number = text.rpartition("-")
    return topic, int(number)


def topics(partitions: list[str]) -> list[tuple[str, list[int]]]:
    found: dict[str, list[int]] = {}
    for each in partitions:
        topic, number = partition_named(each)
        found.setdefault(topic, []).append(number)
    return list(found.items())


def shown(partitions: Any) -> str:
    listed = [f"{topic}-{each}" for topic, numbers in partitions.items() for each in numbers]
    return f"[{' '.join(listed)}]"

"""Plays traces of a group coordinator; tests/support/traces.py has their form.

The group is ``g``, with topics ``t`` (4 partitions) and ``u`` (2). Each member has a name in the
trace, which stands for its member id, and remembers the generation or epoch that it was told last;
``epoch=`` and ``generation=`` override it (``-1`` and ``+1`` are relative, ``=3`` is absolute).
A leader's SyncGroup has the assignments: ``a=t-0,t-1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fencepost_broker.coordinator.effects import Reply
from fencepost_broker.coordinator.group.classic.subscriptions import (
    read_assignment,
    write_assignment,
)
from fencepost_broker.coordinator.group.consumer.member import MemberState
from fencepost_broker.coordinator.records import LogRecord
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

from tests.machine.coordinator.group.classic import Classic
from tests.machine.coordinator.group.consumers import Consumers
from tests.machine.coordinator.group.offsets import commit, fetch
from tests.machine.coordinator.group.partition import Partition
from tests.support.traces import Step

GROUP = "g"


class Player:
    """Plays one scenario."""

    def __init__(self) -> None:
        self.partition = Partition()
        self.classic = Classic(self.partition, GROUP)
        self.consumers = Consumers(self.partition, GROUP)
        self.ids: dict[str, str] = {}
        self.epochs: dict[str, int] = {}
        self.waiting: dict[Any, tuple[str, str]] = {}
        """Label and member by the token of a request that waits."""
        self.begin_ms = self.partition.now_ms
        self._seen = len(self.partition.decisions)

    def play(self, step: Step) -> list[str]:
        """The outcome of a step."""
        told = []
        for line in step.asked:
            verb, *words = line.split()
            options = dict(word.split("=", 1) for word in words if "=" in word)
            plain = [word for word in words if "=" not in word]
            answered: list[str] = getattr(self, f"_{verb}")(plain, options)
            told += [*self._news(), *answered]
        return told

    # -- the classic protocol --------------------------------------------------------------------

    def _join(self, plain: list[str], options: dict[str, str]) -> list[str]:
        (name,) = plain
        answer = self.classic.join(
            self.ids.get(name, ""),
            options.get("instance"),
            protocols=options.get("protocols", "range").split(","),
        )
        if not isinstance(answer, int):
            return [f"reply {self._joined(name, answer)}"]
        label = f"#{len(self.waiting) + 1}"
        self.waiting[answer] = label, name
        return [f"waits {label}"]

    def _joined(self, name: str, answer: Any) -> str:
        if answer.member_id:
            self.ids[name] = answer.member_id
        if answer.error_code:
            return ErrorCode(answer.error_code).name
        self.epochs[name] = answer.generation_id
        members = sorted(self._name(each.member_id) for each in answer.members)
        leader = self._name(answer.leader)
        told = f"NONE generation={answer.generation_id} leader={leader} {answer.protocol_name}"
        return f"{told} members=[{' '.join(members)}]" if members else told

    def _sync(self, plain: list[str], options: dict[str, str]) -> list[str]:
        (name,) = plain
        generation = self._epoch(name, options.pop("generation", ""))
        instance = options.pop("instance", None)
        given = {
            self.ids[each]: write_assignment(_partitions(text.split(",")), 1)
            for each, text in options.items()
        }
        answer = self.classic.sync(self.ids.get(name, ""), generation, given, instance)
        if not isinstance(answer, int):
            return [f"reply {_synced(answer)}"]
        label = f"#{len(self.waiting) + 1}"
        self.waiting[answer] = label, name
        return [f"waits {label}"]

    def _beat(self, plain: list[str], options: dict[str, str]) -> list[str]:
        (name,) = plain
        generation = self._epoch(name, options.get("generation", ""))
        return [f"reply {self.classic.beat(self.ids[name], generation, options.get('instance'))}"]

    def _leave(self, plain: list[str], options: dict[str, str]) -> list[str]:
        leaving = [(self.ids[name], options.get("instance")) for name in plain]
        return [f"reply {' '.join(self.classic.leave(*leaving))}"]

    # -- the protocol of KIP-848 -----------------------------------------------------------------

    def _heartbeat(self, plain: list[str], options: dict[str, str]) -> list[str]:
        """A ConsumerGroupHeartbeat: with topics to subscribe to, with partitions that are owned."""
        name, *topics = plain
        fields: dict[str, Any] = {}
        if topics:
            fields = {"subscribed_topic_names": topics, "rebalance_timeout_ms": 60_000}
        owned: dict[str, list[int]] | None = {} if topics else None
        if "owns" in options:
            owned = _partitions(options["owns"].split(","))
        epoch = self._epoch(name, options.get("epoch", "=0" if topics else ""))
        fields["instance_id"] = options.get("instance")
        self.ids.setdefault(name, name)
        answer = self.consumers.beat(self.ids[name], epoch, owned, **fields)
        if answer.error_code:
            return [f"reply {ErrorCode(answer.error_code).name}"]
        self.epochs[name] = answer.member_epoch
        given = self.consumers.given(answer)
        told = f"reply NONE epoch={answer.member_epoch}"
        return [told if given is None else f"{told} {_shown(given)}"]

    # -- offsets ---------------------------------------------------------------------------------

    def _commit(self, plain: list[str], options: dict[str, str]) -> list[str]:
        name, *offsets = plain
        epoch = self._epoch(name, options.pop("epoch", ""))
        instance = options.pop("instance", None)
        told = commit(
            self.partition, GROUP, _offsets(options), epoch, self.ids.get(name, ""), instance
        )
        assert not offsets
        return [f"reply {' '.join(told)}"]

    def _txncommit(self, plain: list[str], options: dict[str, str]) -> list[str]:
        """A TxnOffsetCommit: ``producer member``."""
        producer_id, name = plain
        epoch = self._epoch(name, options.pop("epoch", ""))
        instance = options.pop("instance", None)
        request = TxnOffsetCommitRequest(
            "txn", GROUP, int(producer_id), 3, epoch, self.ids.get(name, ""), instance
        )
        request.topics = [
            TxnOffsetCommitRequestTopic(topic, [TxnOffsetCommitRequestPartition(number, offset)])
            for (topic, number), offset in _offsets(options).items()
        ]
        answer = self.partition.ask(request)
        codes = [each.error_code for topic in answer.topics for each in topic.partitions]
        return [f"reply {' '.join(ErrorCode(code).name for code in codes)}"]

    def _marker(self, plain: list[str], options: dict[str, str]) -> list[str]:
        producer_id, outcome = plain
        self.partition.end(int(producer_id), committed={"commit": True, "abort": False}[outcome])
        return []

    def _fetch(self, plain: list[str], options: dict[str, str]) -> list[str]:
        wanted = [_partition(word) for word in plain if word != "stable"]
        found = fetch(self.partition, GROUP, *wanted, stable="stable" in plain)
        told = []
        for (topic, number), each in zip(wanted, found, strict=True):
            error = ErrorCode(each.error_code)
            told.append(f"{topic}-{number}={error.name if error else each.committed_offset}")
        return told

    # -- what happens ----------------------------------------------------------------------------

    def _wait(self, plain: list[str], options: dict[str, str]) -> list[str]:
        self.partition.advance(int(plain[0]))
        return []

    def _restart(self, plain: list[str], options: dict[str, str]) -> list[str]:
        self.partition.restart()
        return []

    def _topic(self, plain: list[str], options: dict[str, str]) -> list[str]:
        self.partition.create_topic(plain[0], int(plain[1]))
        return []

    def _state(self, plain: list[str], options: dict[str, str]) -> list[str]:
        return [f"state {self.classic.state}"]

    # -- showing ---------------------------------------------------------------------------------

    def _news(self) -> list[str]:
        told = []
        for decision in self.partition.decisions[self._seen :]:
            for record in decision.records:
                producer = f" pid={decision.producer_id}" if decision.producer_id >= 0 else ""
                told.append(f"log{producer} {self._record(record)}")
            for effect in decision.effects:
                if isinstance(effect, Reply):
                    label, name = self.waiting[effect.token]
                    answer = effect.answer
                    is_join = hasattr(answer, "generation_id")
                    shown = self._joined(name, answer) if is_join else _synced(answer)
                    told.append(f"reply {label} {shown}")
                else:
                    told.append(f"tell {self._named(effect.text)}")
        self._seen = len(self.partition.decisions)
        return told

    def _record(self, record: LogRecord) -> str:
        key: Any = record.key
        value: Any = record.value
        kind = key.NAME.removesuffix("Key")
        if hasattr(key, "member_id"):
            kind += f" {self._name(key.member_id)}"
        if hasattr(key, "topic"):
            kind += f" {key.topic}-{key.partition}"
        if value is None:
            return f"{kind} gone"
        return f"{kind} {getattr(self, f'_of_{value.NAME}')(value)}".rstrip()

    def _of_GroupMetadataValue(self, value: Any) -> str:  # noqa: N802 - named as the record
        members = [
            f"{self._name(each.member_id)}"
            + (f" instance={each.group_instance_id}" if each.group_instance_id else "")
            + _assigned(each.assignment)
            for each in value.members
        ]
        leader = None if value.leader is None else self._name(value.leader)
        return (
            f"generation={value.generation} {value.protocol} leader={leader} [{', '.join(members)}]"
        )

    def _of_ConsumerGroupMetadataValue(self, value: Any) -> str:  # noqa: N802
        return f"epoch={value.epoch}"

    def _of_ConsumerGroupMemberMetadataValue(self, value: Any) -> str:  # noqa: N802
        told = f"topics={','.join(value.subscribed_topic_names)}"
        told += f" instance={value.instance_id}" if value.instance_id else ""
        return told + (" classic" if value.classic_member_metadata else "")

    def _of_ConsumerGroupTargetAssignmentMetadataValue(self, value: Any) -> str:  # noqa: N802
        return f"epoch={value.assignment_epoch}"

    def _of_ConsumerGroupTargetAssignmentMemberValue(self, value: Any) -> str:  # noqa: N802
        return self._by_id(value.topic_partitions)

    def _of_ConsumerGroupCurrentMemberAssignmentValue(self, value: Any) -> str:  # noqa: N802
        told = f"epoch={value.member_epoch} previous={value.previous_member_epoch}"
        told += f" {MemberState(value.state).name} {self._by_id(value.assigned_partitions)}"
        pending = self._by_id(value.partitions_pending_revocation)
        return told if pending == "[]" else f"{told} revokes={pending}"

    def _of_OffsetCommitValue(self, value: Any) -> str:  # noqa: N802
        return f"offset={value.offset}"

    def _by_id(self, topics: Iterable[Any]) -> str:
        named: dict[str, list[int]] = {}
        for each in topics:
            name = self.partition.topics.topic_name(each.topic_id)
            named[str(name)] = list(each.partitions)
        return _shown(named)

    def _name(self, member_id: str) -> str:
        return next((name for name, known in self.ids.items() if known == member_id), "new")

    def _named(self, text: str) -> str:
        for name, known in self.ids.items():
            text = text.replace(known, name)
        return text

    def _epoch(self, name: str, given: str) -> int:
        known = self.epochs.get(name, -1)
        if given.startswith("="):
            return int(given[1:])
        return known + int(given) if given else known


def _synced(answer: Any) -> str:
    error = ErrorCode(answer.error_code).name
    return error + _assigned(answer.assignment)


def _assigned(assignment: Any) -> str:
    topics = read_assignment(assignment).assigned_partitions
    return f" {_shown({each.topic: each.partitions for each in topics})}" if assignment else ""


def _partition(text: str) -> tuple[str, int]:
    topic, _, number = text.rpartition("-")
    return topic, int(number)


def _partitions(texts: Iterable[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, number in map(_partition, filter(None, texts)):
        found.setdefault(topic, []).append(number)
    return found


def _offsets(options: Mapping[str, str]) -> dict[tuple[str, int], int]:
    return {_partition(name): int(offset) for name, offset in options.items()}


def _shown(partitions: Mapping[str, Iterable[int]]) -> str:
    listed = [
        f"{topic}-{each}" for topic, numbers in partitions.items() for each in sorted(numbers)
    ]
    return f"[{' '.join(listed)}]"

"""A controller and its log, as a node would drive them, with every promise checked on the way."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

from fencepost_broker.controller.bootstrap import first_heartbeat, first_records, registration
from fencepost_broker.controller.machine import Controller
from fencepost_broker.controller.ports import ControllerCommand, ControllerSettings
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.image.changes import Change
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import Endpoint
from fencepost_broker.metadata.log.records import decode_record, encode_record
from fencepost_broker.metadata.log.snapshot import read_snapshot, snapshot_records
from fencepost_protocol.generated.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.error_code import ErrorCode

CLUSTER_ID = "a-cluster-of-our-own-00"
NODE_ID = 1

LISTS = {"cleanup.policy": "delete", "log.cleanup.policy": "delete"}
SHORTEST, LONGEST = "min.compaction.lag.ms", "max.compaction.lag.ms"
NUMBERS = {"retention.ms": -1, "flush.ms": 0, "min.insync.replicas": 1, SHORTEST: 0, LONGEST: 1}
READ_ONLY = {"node.id", "num.partitions"}

TOO_MANY_RECORDS = (
    "one request may write 10000 metadata records (each topic, each partition and each setting is "
    "one), and this one needs more: split it"
)


def in_request_twice(what: str) -> str:
    return f"{what} is in the request more than once: none of these entries was applied"


class SomeRules:
    """Rules for a handful of settings."""

    def topic_refusal(self, configs: Mapping[str, str]) -> str | None:
        for name, value in configs.items():
            problem = None
            if name in NUMBERS:
                problem = self._number(value, NUMBERS[name])
            elif name == "cleanup.policy":
                words = {word.strip() for word in value.split(",")} - {""}
                if words - {"compact", "delete"}:
                    problem = "it is none of compact, delete"
            elif name != "unclean.leader.election.enable":
                return f"there is no topic setting {name}"
            if problem is not None:
                return f"{name}={value}: {problem}"
        least, most = int(configs.get(SHORTEST, 0)), int(configs.get(LONGEST, 1 << 62))
        if least > most:
            return f"{SHORTEST}={least} is above {LONGEST}={most}"
        return None

    @staticmethod
    def _number(value: str, least: int) -> str | None:
        try:
            number = int(value)
        except ValueError:
            return "it is not a whole number"
        return None if number >= least else f"it is below {least}"

    def broker_refusal(
        self, broker_id: int | None, configs: Mapping[str, str], changed: frozenset[str]
    ) -> str | None:
        if broker_id not in {None, NODE_ID}:
            return f"this is broker {NODE_ID}, not {broker_id}"
        read_only = sorted(READ_ONLY & changed)
        if read_only:
            return f"{read_only[0]} cannot be changed while the broker runs"
        return None

    def group_refusal(self, configs: Mapping[str, str]) -> str | None:
        unknown = sorted(set(configs) - {"consumer.session.timeout.ms"})
        return f"there is no group setting {unknown[0]}" if unknown else None

    def client_metrics_refusal(self, configs: Mapping[str, str]) -> tuple[ErrorCode, str] | None:
        return None

    def list_default(self, resource_type: int, name: str) -> str | None:
        return LISTS.get(name)

    def describe_topic(
        self, configs: Mapping[str, str], broker: Mapping[str, str], cluster: Mapping[str, str]
    ) -> list[CreatableTopicConfigs]:
        known = {name: str(value) for name, value in NUMBERS.items()} | {"cleanup.policy": "delete"}
        values = {**known, **configs}
        return [CreatableTopicConfigs(name, values[name]) for name in sorted(values)]


def state(image: MetadataImage) -> list[bytes]:
    """An image as bytes, to see whether something changed it."""
    return [bytes(encode_record(record)) for record in snapshot_records(image)]


class Cluster:
    """A controller with a log in memory.

    Every decision is checked: deciding changes nothing, the records survive being bytes, and a
    replay of the whole log as well as of a snapshot give the live image.
    """

    def __init__(
        self,
        settings: ControllerSettings | None = None,
        *,
        seed: int = 0,
        levels: Mapping[str, int] | None = None,
        log: Iterable[bytes] = (),
        now_ms: int = 0,
        check: bool = True,
    ) -> None:
        self.settings = settings or ControllerSettings(node_id=NODE_ID, cluster_id=CLUSTER_ID)
        self.check = check
        self.now_ms = now_ms
        self.log: list[bytes] = []
        self.changes: list[Change] = []
        self.controller = Controller(
            MetadataImage(), SomeRules(), random.Random(seed), self.settings
        )
        for value in log:
            self._append(decode_record(value))
        self.run(self.controller.activate(now_ms, first_records(levels)))

    @property
    def image(self) -> MetadataImage:
        return self.controller.image

    def ask(self, command: ControllerCommand) -> Any:
        """The answer to a command whose records are committed."""
        before = state(self.image) if self.check else []
        decision = self.controller.handle(self.now_ms, command)
        if self.check:
            assert state(self.image) == before, "deciding has changed the image"
        self.run(decision)
        return decision.answer

    def run(self, decision: Decision[Any]) -> None:
        self.changes = []
        for record in decision.records:
            self._append(record)
        for soft in decision.soft:
            self.controller.apply_soft(soft)
        if self.check:
            self.check_replay()

    def _append(self, record: MetadataRecord) -> None:
        value = bytes(encode_record(record))
        again = decode_record(value)
        assert again == record
        offset = self.image.next_offset
        assert offset == len(self.log)
        self.log.append(value)
        self.changes += self.controller.replay(again.message, offset)

    def check_replay(self) -> None:
        replayed = MetadataImage()
        for offset, value in enumerate(self.log):
            replayed.apply(decode_record(value).message, offset)
        assert replayed == self.image
        assert replayed.last_offset == self.image.last_offset
        if not self.image.in_transaction:
            records = list(snapshot_records(self.image))
            from_snapshot = read_snapshot(records, self.image.last_offset)
            assert from_snapshot == self.image
            assert state(from_snapshot) == [bytes(encode_record(each)) for each in records]

    def advance(self, ms: int) -> None:
        """Moves time and lets expire what does."""
        self.now_ms += ms
        while (at := self.controller.deadline()) is not None and at <= self.now_ms:
            self.run(self.controller.expire(self.now_ms))

    def restarted(self, *, seed: int = 0) -> Cluster:
        """Another controller over the same log."""
        return Cluster(self.settings, seed=seed, log=self.log, now_ms=self.now_ms, check=self.check)

    # -- shorthands -----------------------------------------------------------------------------

    def register(
        self,
        broker_id: int,
        incarnation: int = 0,
        rack: str | None = None,
        directory: bytes | None = None,
        previous_epoch: int = -1,
    ) -> int:
        """A broker introduces itself; its epoch."""
        incarnation_id = bytes([broker_id, incarnation]) * 8
        request = registration(
            broker_id,
            CLUSTER_ID,
            incarnation_id,
            [Endpoint("PLAINTEXT", "localhost", 9000 + broker_id)],
            [directory or bytes([broker_id]) * 15 + b"d"],
            rack,
            previous_epoch,
        )
        answer = self.ask(request)
        assert answer.error_code == ErrorCode.NONE, ErrorCode(answer.error_code).name
        epoch: int = answer.broker_epoch
        return epoch

    def up(self, *broker_ids: int, racks: Mapping[int, str] | None = None) -> Cluster:
        """Brokers that are registered and not fenced."""
        for broker_id in broker_ids:
            self.register(broker_id, rack=(racks or {}).get(broker_id))
            assert not self.ask(first_heartbeat(self.image, broker_id)).is_fenced
        return self

    def heartbeat(
        self, broker_id: int, *, fence: bool = False, shut_down: bool = False
    ) -> BrokerHeartbeatResponse:
        epoch = self.image.cluster.brokers[broker_id].epoch
        offset = self.image.last_offset
        request = BrokerHeartbeatRequest(broker_id, epoch, offset, fence, shut_down)
        answer: BrokerHeartbeatResponse = self.ask(request)
        return answer

    def create(self, *topics: CreatableTopic, validate_only: bool = False) -> list[Any]:
        request = CreateTopicsRequest(list(topics), validate_only=validate_only)
        results: list[CreatableTopicResult] = self.ask(request).topics
        return results

    def topic(self, name: str, partitions: int = 1, factor: int = 1, **configs: str) -> None:
        """A topic that is made without a question."""
        items = [CreatableTopicConfig(key.replace("_", "."), configs[key]) for key in configs]
        (result,) = self.create(CreatableTopic(name, partitions, factor, [], items))
        assert result.error_code == ErrorCode.NONE, result.error_message


def code_of(answer: Any) -> str:
    """The name of an answer's error code."""
    return ErrorCode(answer.error_code).name


def told(result: Any) -> tuple[str, str | None]:
    """Code and message of an answer, for comparison."""
    return ErrorCode(result.error_code).name, result.error_message

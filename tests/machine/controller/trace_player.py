"""Plays traces of a controller; tests/support/traces.py has their form.

Outcomes are the records that the controller writes, and the answer's error code if it is not NONE.
"""

from __future__ import annotations

from typing import Any

from fencepost_broker.controller.machine import HeartbeatReceived
from fencepost_broker.metadata.log.records import decode_record
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions

from tests.machine.controller.cluster import Cluster, code_of
from tests.machine.controller.harness import place, reassign
from tests.machine.controller.in_sync_harness import ask, proposal
from tests.support.traces import Step


class Player:
    """Plays one scenario; its topic is ``t``."""

    def __init__(self) -> None:
        self.cluster = Cluster()
        self._seen = len(self.cluster.log)

    def play(self, step: Step) -> list[str]:
        """The outcome of a step."""
        told = []
        for line in step.asked:
            verb, *words = line.split()
            options = dict(word.split("=", 1) for word in words if "=" in word)
            plain = [word for word in words if "=" not in word]
            answered: list[str] = getattr(self, f"_{verb}")(plain, options)
            told += [*self._records(), *answered]
        return told

    # -- brokers ---------------------------------------------------------------------------------

    def _register(self, plain: list[str], options: dict[str, str]) -> list[str]:
        """``incarnation=1`` is another process; ``clean`` if it knows the last one's epoch."""
        broker_id = int(plain[0])
        if "incarnation" in options:
            self.cluster.controller.apply_soft(
                HeartbeatReceived(broker_id, None)
            )  # its session is over
        known = self.cluster.image.cluster.brokers.get(broker_id)
        previous = known.epoch if known is not None and "clean" in plain else -1
        self.cluster.register(
            broker_id, int(options.get("incarnation", 0)), previous_epoch=previous
        )
        return []

    def _heartbeat(self, plain: list[str], options: dict[str, str]) -> list[str]:
        broker_id, *wishes = plain
        answer = self.cluster.heartbeat(
            int(broker_id), fence="fence" in wishes, shut_down="shut-down" in wishes
        )
        if answer.error_code:
            return [f"reply {code_of(answer)}"]
        state = "fenced" if answer.is_fenced else "unfenced"
        return [f"reply {state}{' may shut down' if answer.should_shut_down else ''}"]

    def _up(self, plain: list[str], options: dict[str, str]) -> list[str]:
        """Brokers that are registered and unfenced; their records are not shown."""
        self.cluster.up(*map(int, plain))
        self._seen = len(self.cluster.log)
        return []

    def _wait(self, plain: list[str], options: dict[str, str]) -> list[str]:
        self.cluster.advance(int(plain[0]))
        return []

    def _restart(self, plain: list[str], options: dict[str, str]) -> list[str]:
        self.cluster = self.cluster.restarted()
        return []

    # -- partitions ------------------------------------------------------------------------------

    def _topic(self, plain: list[str], options: dict[str, str]) -> list[str]:
        """Partitions with these replicas: ``1,2,3 2,3,1``."""
        place(self.cluster, *map(_numbers, plain), **options)
        return []

    def _isr(self, plain: list[str], options: dict[str, str]) -> list[str]:
        """AlterPartition for t-0, of its leader."""
        answer = ask(self.cluster, proposal(self.cluster, *_numbers(plain[0])))
        return [f"reply {code_of(answer)}"] if answer.error_code else []

    def _elect(self, plain: list[str], options: dict[str, str]) -> list[str]:
        """``preferred`` or ``unclean``, for t-0."""
        kind = {"preferred": 0, "unclean": 1}[plain[0]]
        wanted = [TopicPartitions("t", [0])]
        (topic,) = self.cluster.ask(ElectLeadersRequest(kind, wanted)).replica_election_results
        (answer,) = topic.partition_result
        return [f"reply {code_of(answer)}"] if answer.error_code else []

    def _reassign(self, plain: list[str], options: dict[str, str]) -> list[str]:
        """To other replicas of t-0, or ``cancel``."""
        code = reassign(self.cluster, None if plain[0] == "cancel" else _numbers(plain[0]))
        return [] if code == "NONE" else [f"reply {code}"]

    # -- showing ---------------------------------------------------------------------------------

    def _records(self) -> list[str]:
        told = []
        for value in self.cluster.log[self._seen :]:
            message: Any = decode_record(value).message
            kind = message.NAME.removesuffix("Record")
            show = getattr(self, f"_of_{kind}", None)
            told.append(f"log {kind}{f' {show(message)}' if show is not None else ''}")
        self._seen = len(self.cluster.log)
        return told

    def _of_RegisterBroker(self, record: Any) -> str:  # noqa: N802 - named as the record
        state = "fenced" if record.fenced else "unfenced"
        return f"{record.broker_id} epoch={record.broker_epoch} {state}"

    def _of_BrokerRegistrationChange(self, record: Any) -> str:  # noqa: N802
        states = {-1: " unfenced", 0: "", 1: " fenced"}
        told = f"{record.broker_id}{states[record.fenced]}"
        return told + (" in controlled shutdown" if record.in_controlled_shutdown else "")

    def _of_Topic(self, record: Any) -> str:  # noqa: N802
        return str(record.name)

    def _of_Config(self, record: Any) -> str:  # noqa: N802
        return f"{record.resource_name} {record.name}={record.value}"

    def _of_Partition(self, record: Any) -> str:  # noqa: N802
        told = f"{record.partition_id} replicas={record.replicas} isr={record.isr}"
        return f"{told} leader={record.leader}"

    def _of_PartitionChange(self, record: Any) -> str:  # noqa: N802
        told = [str(record.partition_id)]
        names = {
            "leader": "leader",
            "isr": "isr",
            "eligible_leader_replicas": "elr",
            "last_known_elr": "last-known-elr",
            "replicas": "replicas",
            "adding_replicas": "adding",
            "removing_replicas": "removing",
        }
        for field, shown in names.items():
            value = getattr(record, field)
            if value is not None and value != -2:
                told.append(f"{shown}={value}")
        return " ".join(told)


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]

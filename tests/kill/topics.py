"""Somebody who makes, changes and removes topics, and knows what was acknowledged of it.

Names come from a small pool, so that a topic is often made anew under a name that was there. The
one command that is under way when the broker ends may have been carried out, or not.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.records.writer import build_batch

from tests.support.up import METADATA_VERSION, ClosedError, Wire

NAMES = tuple(f"pool-{number}" for number in range(6))
SETTING = "max.message.bytes"
TOPIC = 2
PARTITIONS_MAX = 6


@dataclass(frozen=True)
class Known:
    """What is known of one topic; ``None`` in its place: it is not there."""

    partitions: int
    setting: str | None = None
    records: int = 0


class Administrator:
    """Commands one after the other, and what must be found of them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.known: dict[str, Known | None] = dict.fromkeys(NAMES)
        self.doubtful: tuple[str, Known | None] | None = None
        """The topic whose command was under way, and how it is if that was carried out."""
        self.commands = 0

    def run(self, port: int, goes_on: Callable[[], bool]) -> None:
        """Give commands until the connection is lost."""
        try:
            with Wire(port) as client:
                while goes_on():
                    self._command(client)
        except (ClosedError, ConnectionError):
            return

    def _command(self, client: Wire) -> None:
        name = self.rng.choice(NAMES)
        known = self.known[name]
        if known is None:
            after: Known | None = Known(self.rng.randint(1, 3))
            act = self._create
        else:
            act, after = self.rng.choice(
                [
                    (self._delete, None),
                    (self._grow, replace(known, partitions=known.partitions + 1)),
                    (self._set, replace(known, setting=str(self.rng.randint(10_000, 99_999)))),
                    (self._produce, replace(known, records=known.records + 1)),
                    (self._produce, replace(known, records=known.records + 1)),
                ]
            )
            if after is not None and after.partitions > PARTITIONS_MAX:
                return
        self.doubtful = name, after
        error = act(client, name, after)
        assert not error, f"{act.__name__} {name}: {ErrorCode(error).name}"
        self.known[name] = after
        self.doubtful = None
        self.commands += 1

    @staticmethod
    def _create(client: Wire, name: str, after: Any) -> int:
        request = CreateTopicsRequest(topics=[CreatableTopic(name, after.partitions, 1)])
        return int(client.ask(request, 7).topics[0].error_code)

    @staticmethod
    def _delete(client: Wire, name: str, after: Any) -> int:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name)])
        return int(client.ask(request, 6).responses[0].error_code)

    @staticmethod
    def _grow(client: Wire, name: str, after: Any) -> int:
        request = CreatePartitionsRequest([CreatePartitionsTopic(name, after.partitions, None)])
        return int(client.ask(request, 3).results[0].error_code)

    @staticmethod
    def _set(client: Wire, name: str, after: Any) -> int:
        config = AlterableConfig(SETTING, 0, after.setting)
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(TOPIC, name, [config])])
        return int(client.ask(request, 1).responses[0].error_code)

    @staticmethod
    def _produce(client: Wire, name: str, after: Any) -> int:
        return int(client.produce(name, build_batch(None, [b"kept"], 1_000)).error_code)

    def verify(self, client: Wire) -> None:
        """Everything that was acknowledged is as it was, and nothing else is there."""
        found = self._look(client)
        for name in NAMES:
            expected = [self.known[name]]
            if self.doubtful is not None and self.doubtful[0] == name:
                expected.append(self.doubtful[1])
            assert found[name] in expected, f"{name} is {found[name]}, not one of {expected}"
        self.known, self.doubtful = found, None

    @staticmethod
    def _look(client: Wire) -> dict[str, Known | None]:
        found: dict[str, Known | None] = dict.fromkeys(NAMES)
        answer = client.ask(MetadataRequest(topics=None), METADATA_VERSION)
        there = {each.name: len(each.partitions) for each in answer.topics if each.name in found}
        resources = [DescribeConfigsResource(TOPIC, name, [SETTING]) for name in there]
        described = client.ask(DescribeConfigsRequest(resources), 4).results if resources else []
        for result in described:
            assert not result.error_code
            (config,) = result.configs
            own = config.value if config.config_source == 1 else None
            records = len(client.fetch(result.resource_name))
            found[result.resource_name] = Known(there[result.resource_name], own, records)
        return found

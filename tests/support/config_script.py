"""Changes of a broker's settings and loggers, asked of any broker: ours or Apache Kafka.

Each step is a request, each outcome what of the answer has to be the same everywhere: codes,
values, sources and synonyms. Texts are everybody's own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

TOPIC: Final = 2
BROKER: Final = 4
LOGGER: Final = 8
GROUP: Final = 32
SET, DELETE, APPEND, SUBTRACT = range(4)
Ask = Callable[[Message, int], Awaitable[Any]]
LOG: Final = "(a logger)"
"""Stands for a logger that the broker has."""


class Change(NamedTuple):
    """One IncrementalAlterConfigs request; its outcome is the error code."""

    kind: int
    name: str
    configs: tuple[tuple[str, int, str | None], ...]
    validate_only: bool = False


class Look(NamedTuple):
    """One DescribeConfigs request; its outcome is what it tells of each setting."""

    kind: int
    name: str
    keys: tuple[str, ...] = ()


SETTINGS: Final[tuple[Change | Look, ...]] = (
    Change(BROKER, "1", (("log.retention.ms", SET, "1000"),)),
    Change(BROKER, "", (("log.retention.ms", SET, "2000"), ("max.connections.per.ip", SET, "77"))),
    Look(BROKER, "1", ("log.retention.ms", "max.connections.per.ip", "log.retention.hours")),
    Look(BROKER, ""),
    Look(BROKER, "", ("num.partitions", "log.retention.ms")),
    Look(TOPIC, "t", ("retention.ms",)),
    Change(BROKER, "1", (("num.partitions", SET, "3"),)),
    Change(BROKER, "", (("num.partitions", SET, "3"),)),
    Change(BROKER, "1", (("log.retention.ms", SET, "x"),)),
    Change(BROKER, "1", (("log.retention.ms", SET, "0"),)),
    Change(BROKER, "1", (("log.segment.bytes", SET, "3"),)),
    Change(BROKER, "1", (("advertised.listeners", SET, "PLAINTEXT://h:1"),)),
    Change(BROKER, "", (("listeners", SET, "PLAINTEXT://h:1"),)),
    Change(BROKER, "1", (("max.connections", SET, "-1"),)),
    Change(BROKER, "7", (("max.connections", SET, "50"),)),
    Change(BROKER, "x", (("max.connections", SET, "50"),)),
    Change(BROKER, "1", (("log.cleanup.policy", APPEND, "compact"),)),
    Look(BROKER, "1", ("log.cleanup.policy",)),
    Look(TOPIC, "t", ("cleanup.policy",)),
    Change(BROKER, "1", (("log.cleanup.policy", SUBTRACT, "compact"),)),
    Change(BROKER, "1", (("log.retention.hours", SET, "5"),)),
    Change(BROKER, "1", (("log.roll.ms", SET, "5"), ("num.partitions", SET, "5"))),
    Look(BROKER, "1", ("log.roll.ms",)),
    Change(BROKER, "", (("log.flush.interval.ms", SET, "50"),)),
    Change(BROKER, "", (("message.max.bytes", SET, "50"),), validate_only=True),
    Look(BROKER, "1", ("message.max.bytes",)),
    Change(BROKER, "", (("producer.id.expiration.ms", SET, "50000"),)),
    Change(BROKER, "", (("transaction.partition.verification.enable", SET, "false"),)),
    Change(BROKER, "", (("group.consumer.session.timeout.ms", SET, "50000"),)),
    Change(
        BROKER, "", (("log.retention.ms", DELETE, None), ("max.connections.per.ip", DELETE, None))
    ),
    Look(BROKER, "1", ("log.retention.ms", "max.connections.per.ip")),
    Change(BROKER, "1", (("log.retention.ms", DELETE, None),)),
    Look(BROKER, "1", ("log.retention.ms",)),
    Look(TOPIC, "t", ("retention.ms",)),
    Look(BROKER, ""),
)

OF_GROUPS: Final = (
    "consumer.session.timeout.ms",
    "consumer.heartbeat.interval.ms",
    "consumer.assignment.interval.ms",
)
"""Those of consumer groups; Kafka has some more for kinds of groups that we do not have."""

GROUPS: Final[tuple[Change | Look, ...]] = (
    Look(GROUP, "g", OF_GROUPS),
    Look(GROUP, "g", ("consumer.session.timeout.ms", "nope")),
    Look(GROUP, "", OF_GROUPS),
    Change(BROKER, "", (("group.consumer.assignment.interval.ms", SET, "2000"),)),
    Change(GROUP, "g", (("consumer.session.timeout.ms", SET, "50000"),)),
    Look(GROUP, "g", OF_GROUPS),
    Look(GROUP, "another", OF_GROUPS),
    Change(GROUP, "g", (("consumer.session.timeout.ms", SET, "44999"),)),
    Change(GROUP, "g", (("consumer.session.timeout.ms", SET, "60001"),)),
    Change(GROUP, "g", (("consumer.session.timeout.ms", SET, "x"),)),
    Change(GROUP, "g", (("consumer.session.timeout.ms", SET, None),)),
    Change(GROUP, "g", (("consumer.heartbeat.interval.ms", SET, "4999"),)),
    Change(GROUP, "g", (("consumer.heartbeat.interval.ms", SET, "15001"),)),
    Change(GROUP, "g", (("consumer.heartbeat.interval.ms", SET, "15000"),)),
    Change(GROUP, "g", (("consumer.assignment.interval.ms", SET, "0"),)),
    Change(GROUP, "g", (("consumer.assignment.interval.ms", SET, "-1"),)),
    Change(GROUP, "g", (("consumer.assignment.interval.ms", SET, "15001"),)),
    Change(GROUP, "g", (("group.consumer.assignment.interval.ms", SET, "1"),)),
    Change(GROUP, "g", (("nope", SET, "1"),)),
    Change(GROUP, "g", (("consumer.session.timeout.ms", APPEND, "1"),)),
    Change(GROUP, "g", (("consumer.session.timeout.ms", SET, "46000"),), validate_only=True),
    Change(GROUP, "", (("consumer.session.timeout.ms", SET, "46000"),)),
    Look(GROUP, "g", OF_GROUPS),
    Change(GROUP, "g", tuple((name, DELETE, None) for name in OF_GROUPS)),
    Change(BROKER, "", (("group.consumer.assignment.interval.ms", DELETE, None),)),
    Look(GROUP, "g", OF_GROUPS),
)

LOGGERS: Final[tuple[Change | Look, ...]] = (
    Look(LOGGER, "", (LOG,)),
    Look(LOGGER, "2", (LOG,)),
    Look(LOGGER, "x", (LOG,)),
    Look(LOGGER, "1", (LOG, "root", "nope")),
    Change(LOGGER, "1", ((LOG, SET, "DEBUG"),)),
    Look(LOGGER, "1", (LOG, "root")),
    Change(LOGGER, "1", (("root", SET, "ERROR"),)),
    Look(LOGGER, "1", (LOG, "root")),
    Change(LOGGER, "1", ((LOG, DELETE, None),)),
    Look(LOGGER, "1", (LOG, "root")),
    Change(LOGGER, "1", ((LOG, SET, "debug"),)),
    Change(LOGGER, "1", ((LOG, SET, "LOUD"),)),
    Change(LOGGER, "1", ((LOG, SET, "OFF"),)),
    Change(LOGGER, "1", (("no.such", SET, "INFO"),)),
    Change(LOGGER, "1", (("root", DELETE, None),)),
    Change(LOGGER, "1", ((LOG, APPEND, "INFO"),)),
    Change(LOGGER, "1", ((LOG, SET, None),)),
    Change(LOGGER, "", ((LOG, SET, "INFO"),)),
    Change(LOGGER, "2", ((LOG, SET, "INFO"),)),
    Change(LOGGER, "1", ((LOG, SET, "DEBUG"), ("no.such", SET, "INFO"))),
    Change(LOGGER, "1", ((LOG, SET, "DEBUG"),), validate_only=True),
    Change(LOGGER, "1", ((LOG, SET, "INFO"), (LOG, SET, "WARN"))),
    Look(LOGGER, "1", (LOG,)),
    Change(LOGGER, "1", (("root", SET, "WARN"),)),
)


async def outcome(ask: Ask, step: Change | Look, logger: str) -> Any:
    """What a broker makes of a step; ``logger`` is one of its own."""

    def real(name: str) -> str:
        return logger if name == LOG else name

    if isinstance(step, Change):
        configs = [AlterableConfig(real(name), op, value) for name, op, value in step.configs]
        resource = AlterConfigsResource(step.kind, step.name, configs)
        request = IncrementalAlterConfigsRequest([resource], step.validate_only)
        return (await ask(request, 1)).responses[0].error_code
    keys = [real(key) for key in step.keys] or None
    asked = DescribeConfigsResource(step.kind, step.name, keys)
    result = (await ask(DescribeConfigsRequest([asked], include_synonyms=True), 4)).results[0]
    return result.error_code, sorted(
        (
            entry.name.replace(logger, LOG),
            entry.value,
            entry.config_source,
            entry.read_only,
            entry.config_type,
            tuple((each.name, each.value, each.source) for each in entry.synonyms),
        )
        for entry in result.configs
    )

"""What a scenario is, and how one is run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fencepost_broker.config import Value
from fencepost_broker.server.embedded.broker import Broker

Facts: TypeAlias = dict[str, int | str]
"""What was seen: offsets, errors by Kafka's names, states."""
Tell: TypeAlias = Callable[[str], None]
"""Takes the next line of the timeline."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A failure that Kafka's users meet, made to happen on purpose."""

    name: str
    summary: str
    seen: str
    """What a user sees."""
    clients: str
    """Which clients suffer, and in which versions."""
    remedy: str
    """What mends it: a KIP, a setting, a habit."""
    issues: tuple[str, ...] = ()
    """Reports of it, as KAFKA-7190 or confluentinc/librdkafka#3928."""
    kip: str = ""
    """The KIP that mends it, as KIP-890."""
    topics: tuple[str, ...] = ("orders:1",)
    settings: Mapping[str, Value] = field(default_factory=dict)
    run: Callable[[Broker, Tell], Awaitable[Facts]]

    @property
    def options(self) -> dict[str, Any]:
        """The options of a ``Broker`` that it needs."""
        return {"topics": self.topics, "settings": self.settings, "clock": "manual"}

    def broker(self) -> Broker:
        """Return a broker as the scenario needs it, which still has to be started."""
        return Broker(**self.options, log_level="error")


@dataclass(frozen=True)
class Outcome:
    """What happened in a scenario, in order, and what was seen."""

    name: str
    timeline: list[str]
    facts: Facts


async def play(scenario: Scenario, broker: Broker) -> Outcome:
    """Make a scenario happen at a broker that runs."""
    timeline: list[str] = []
    facts = await scenario.run(broker, timeline.append)
    return Outcome(scenario.name, timeline, facts)

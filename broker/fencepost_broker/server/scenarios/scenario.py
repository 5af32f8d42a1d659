"""What a scenario is, and how one is run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from fencepost_broker.config import Value

if TYPE_CHECKING:
    from fencepost_broker.server.attached import AttachedBroker
    from fencepost_broker.server.embedded.broker import Broker
    from fencepost_broker.server.embedded.cluster import Cluster

Facts: TypeAlias = dict[str, int | str]
"""What was seen: offsets, errors by Kafka's names, states."""
Tell: TypeAlias = Callable[[str], None]
"""Takes the next line of the timeline."""
AnyBroker: TypeAlias = "Broker | AttachedBroker"
AnyCluster: TypeAlias = "Cluster | AttachedBroker"


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
    users: Mapping[str, str] = field(default_factory=dict)
    """Names and passwords; with them, clients have to log in."""
    brokers: int = 0
    """How many brokers its cluster has; 0: it needs a single broker."""
    own_broker: str = ""
    """Why it needs a broker of its own, and cannot happen at one that runs already."""
    run: Callable[[Any, Tell], Awaitable[Facts]]
    """Makes it happen at a broker, or at a cluster if it has ``brokers``."""

    @property
    def options(self) -> dict[str, Any]:
        """The options of a ``Broker`` that it needs, or of a ``Cluster``."""
        both = {"topics": self.topics, "settings": self.settings}
        if self.brokers:
            return {**both, "brokers": self.brokers}
        return {**both, "users": self.users, "clock": "manual"}

    def broker(self) -> Broker:
        """Return a broker as it needs it, which still has to be started."""
        from fencepost_broker.server.embedded.broker import Broker

        return Broker(**self.options, log_level="error")

    def cluster(self) -> Cluster:
        """Return a cluster as it needs it, which still has to be started."""
        from fencepost_broker.server.embedded.cluster import Cluster

        return Cluster(**self.options, log_level="error")


@dataclass(frozen=True)
class Outcome:
    """What happened in a scenario, in order, and what was seen."""

    name: str
    timeline: list[str]
    facts: Facts


async def play(scenario: Scenario, place: AnyBroker | AnyCluster) -> Outcome:
    """Make a scenario happen at a broker or a cluster that runs and is as the scenario needs it."""
    timeline: list[str] = []
    facts = await scenario.run(place, timeline.append)
    return Outcome(scenario.name, timeline, facts)

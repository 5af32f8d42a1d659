"""What a scenario is, and how one is run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from fencepost_broker.config import Value
from fencepost_broker.operations import Operation

if TYPE_CHECKING:
    from fencepost_broker.observability.explained import ExplainedPartition
    from fencepost_broker.server.faults import Fault, Faults

R = TypeVar("R")

Facts: TypeAlias = dict[str, int | str]
"""What was seen: offsets, errors by Kafka's names, states."""
Tell: TypeAlias = Callable[[str], None]
"""Takes the next line of the timeline."""


class AnyClock(Protocol):
    """State time of a broker, wherever it runs."""

    def now_ms(self) -> int:
        """Return state time, in milliseconds since 1970."""

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0,
        ms: int = 0,
    ) -> None:  # fmt: skip
        """Move it forward."""

    def jump(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0,
        ms: int = 0,
    ) -> None:  # fmt: skip
        """Set it forward or back."""


class AnyHold(Protocol):
    """Markers that are held back."""

    def release(self) -> None:
        """Release them."""


class AnyBroker(Protocol):
    """A broker in this program or in another process."""

    @property
    def bootstrap(self) -> str:
        """Its address for clients."""

    @property
    def faults(self) -> Faults[Fault]:
        """Its fault rules."""

    @property
    def clock(self) -> AnyClock:
        """State time."""

    async def perform(self, operation: Operation[R]) -> R:
        """Carry out an operation."""

    def hold_markers(self) -> AnyHold:
        """Hold back all markers."""

    def explain_partition(self, topic: str, partition: int) -> ExplainedPartition | None:
        """Explain how far readers of committed records can read."""


class AnyCluster(Protocol):
    """A cluster in this program or in other processes."""

    def broker(self, broker_id: int, /) -> AnyBroker:
        """Return one broker."""


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

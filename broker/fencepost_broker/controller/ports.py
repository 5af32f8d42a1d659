"""What the controller needs from outside: settings, rules about settings, and the user's name."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode

if TYPE_CHECKING:
    from fencepost_protocol.generated.create_topics import CreatableTopicConfigs


class ConfigRules(Protocol):
    """Rules about settings: which values are allowed, and what they lead to.

    Values are Kafka's strings, kept and shown as they were given. A refusal is the message that is
    sent with the error.
    """

    def topic_refusal(self, configs: Mapping[str, str]) -> str | None:
        """Return why a topic cannot have these settings together, or ``None``."""

    def broker_refusal(
        self, broker_id: int | None, configs: Mapping[str, str], changed: frozenset[str]
    ) -> str | None:
        """Return why a broker (``None``: all brokers) cannot have these settings, or ``None``.

        ``changed`` are those that this request sets or removes.
        """

    def group_refusal(self, configs: Mapping[str, str]) -> str | None:
        """Return why a group cannot have these settings together, or ``None``."""

    def client_metrics_refusal(self, configs: Mapping[str, str]) -> tuple[ErrorCode, str] | None:
        """Return why a subscription to clients' metrics cannot have these settings, or ``None``."""

    def list_default(self, resource_type: int, name: str) -> str | None:
        """Return the default of a list, or ``None`` if the setting is not a list.

        APPEND and SUBTRACT work on lists only.
        """

    def describe_topic(
        self,
        configs: Mapping[str, str],
        broker: Mapping[str, str],
        cluster: Mapping[str, str],
    ) -> "list[CreatableTopicConfigs]":
        """Return all settings of a new topic, for the answer of CreateTopics.

        Its own settings override dynamic ones of the broker and the cluster, then static ones and
        defaults.
        """


class PartitionPermits(Protocol):
    """How many partitions the client of a request may still create and delete."""

    def take(self, count: int) -> None:
        """Use up permits; raises a Refusal if there are none."""


class TokenCommand(NamedTuple):
    """A request about delegation tokens, and the user who sent it."""

    user: str
    request: Message


class TopicCommand(NamedTuple):
    """A request that creates or deletes topics or partitions, and the client who sent it."""

    user: str
    client_id: str
    is_strict: bool
    """Whether the client knows the error of an exceeded quota (KIP-599)."""
    request: Message


ControllerCommand: TypeAlias = Message | TokenCommand | TopicCommand


class TokenSettings:
    """Settings of delegation tokens."""

    __slots__ = ("check_interval_ms", "lifetime_max_ms", "renewed_for_ms", "secret_key")

    def __init__(
        self, secret_key: str, lifetime_max_ms: int, renewed_for_ms: int, check_interval_ms: int
    ) -> None:
        self.secret_key = secret_key
        self.lifetime_max_ms = lifetime_max_ms
        self.renewed_for_ms = renewed_for_ms
        self.check_interval_ms = check_interval_ms


class ControllerSettings(NamedTuple):
    """Settings of the controller's decisions; defaults are Kafka's."""

    node_id: int = 1
    cluster_id: str = ""
    num_partitions: int = 1
    default_replication_factor: int = 1
    unclean_leader_election_enable: bool = False
    min_insync_replicas: int = 1
    broker_session_timeout_ms: int = 9000
    leader_imbalance_check_interval_ms: int | None = 300_000
    """How often leadership goes back to preferred replicas; ``None``: never."""
    producer_id_brokers: frozenset[int] = frozenset()
    """Brokers that may have producer ids; empty: all registered ones."""
    unclean_leader_election_interval_ms: int = 300_000
    """How often partitions without a leader are checked for unclean elections."""
    records_per_request_max: int = 10_000
    """Maximum of metadata records, and so of partitions, that one request writes."""
    mutation_window_ms: int = 11_000
    """For how long a client may save what its quota of topics and partitions allows."""
    tokens: TokenSettings | None = None
    """``None``: there are no delegation tokens."""

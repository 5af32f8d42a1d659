"""What the controller needs of others, handed in: chance, and what is known about settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from fencepost_protocol.generated.create_topics import CreatableTopicConfigs


class ConfigRules(Protocol):
    """What the controller asks about settings: are these allowed, and what do they amount to.

    Values are Kafka's strings, kept and shown as they were given. A refusal is the message that
    travels with INVALID_CONFIG.
    """

    def topic_refusal(self, configs: Mapping[str, str]) -> str | None:
        """Why a topic cannot have these settings, all together; None when it can."""

    def broker_refusal(
        self, broker_id: int | None, configs: Mapping[str, str], changed: frozenset[str]
    ) -> str | None:
        """Why a broker (None: all of them) cannot have these settings at run time.

        ``changed`` are those that this request sets or takes away.
        """

    def other_refusal(
        self, resource_type: int, resource_name: str, configs: Mapping[str, str]
    ) -> str | None:
        """Why a group or a client-metrics subscription cannot have these settings."""

    def list_default(self, resource_type: int, name: str) -> str | None:
        """What a list has when nobody set it; None when the setting is no list.

        APPEND and SUBTRACT work on lists alone.
        """

    def describe_topic(
        self,
        configs: Mapping[str, str],
        broker: Mapping[str, str],
        cluster: Mapping[str, str],
    ) -> list[CreatableTopicConfigs]:
        """All settings of a new topic, for the answer of CreateTopics.

        Its own come first, then the broker's and the cluster's dynamic ones, then static ones
        and defaults.
        """


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """Settings that the controller's decisions go by; defaults are Kafka's."""

    node_id: int = 1
    cluster_id: str = ""
    num_partitions: int = 1
    default_replication_factor: int = 1
    unclean_leader_election_enable: bool = False
    min_insync_replicas: int = 1
    broker_session_timeout_ms: int = 9000
    leader_imbalance_check_interval_ms: int | None = 300_000
    """How long leadership stays with another than the preferred replica; ``None``: for ever."""
    producer_id_brokers: frozenset[int] = frozenset()
    """Which brokers may have blocks of producer ids; empty: all that are registered."""
    unclean_leader_election_interval_ms: int = 300_000
    """How long a partition without a leader waits until it is looked whether one may be unclean."""
    records_per_request_max: int = 10_000
    """One request makes no more metadata records, hence no more partitions, than this."""

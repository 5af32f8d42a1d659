"""The cluster: its brokers, the levels of its features, the quorum of its controllers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

from fencepost_protocol import __version__
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import add_raft_voter as adding
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.describe_cluster import DescribeClusterRequest
from fencepost_protocol.generated.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.remove_raft_voter import RemoveRaftVoterRequest
from fencepost_protocol.generated.update_features import FeatureUpdateKey, UpdateFeaturesRequest

from fencepost_client.admin.fan_out import require, settle
from fencepost_client.admin.routing import metadata_of
from fencepost_client.errors import KafkaError, UnsupportedVersionError, admin_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.connection import SOFTWARE_NAME
from fencepost_client.requests.procedures import ANY_NODE, Ask, Controller, Procedure, retry

_FENCED_FROM: Final = 2
_FEATURES_FROM: Final = 3
_UPGRADE_TYPE_FROM: Final = 1
_METADATA_TOPIC: Final = "__cluster_metadata"


@dataclass(frozen=True, slots=True)
class BrokerDescription:
    """A broker. A fenced broker is registered but does not serve clients.

    ``epoch`` is that of its registration, from a Fencepost broker only.
    """

    broker_id: int
    host: str
    port: int
    rack: str | None = None
    is_fenced: bool = False
    epoch: int | None = None


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """The cluster. The controller is a broker that forwards requests to it, or -1."""

    cluster_id: str | None
    controller_id: int
    brokers: tuple[BrokerDescription, ...]


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature: its level in the cluster (0: off), and the levels that a broker supports."""

    name: str
    level: int
    supported_min: int
    supported_max: int


@dataclass(frozen=True, slots=True)
class Features:
    """All features by name; the epoch increases with each change."""

    epoch: int
    features: Mapping[str, Feature]


class LevelChange(IntEnum):
    """The allowed change of a feature's level."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3
    """Allowed even if metadata is lost."""


class FeatureLevel(NamedTuple):
    """A level to set."""

    level: int
    change: LevelChange = LevelChange.UPGRADE


@dataclass(frozen=True, slots=True)
class QuorumReplica:
    """A voter or an observer; unknown times are ``None``."""

    replica_id: int
    directory_id: bytes
    log_end_offset: int
    last_fetch_ms: int | None
    last_caught_up_ms: int | None


class Listener(NamedTuple):
    """A listener of a controller."""

    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class QuorumDescription:
    """The quorum of the metadata log."""

    leader_id: int
    leader_epoch: int
    high_watermark: int
    voters: tuple[QuorumReplica, ...]
    observers: tuple[QuorumReplica, ...]
    nodes: Mapping[int, tuple[Listener, ...]]
    """By node id; empty before Kafka 3.9."""


def describe_cluster(backoff: Backoff, *, include_fenced: bool) -> Procedure[ClusterDescription]:
    """Describe the cluster; by Metadata for brokers before Kafka 2.8."""

    def build(version: int) -> DescribeClusterRequest:
        request = DescribeClusterRequest(include_broker_epochs=True)
        if include_fenced:
            require(version, _FENCED_FROM, "listing fenced brokers")
            request.include_fenced_brokers = True
        return request

    ask = Ask(ANY_NODE, ApiKey.DESCRIBE_CLUSTER, build)
    try:
        answer = yield from retry(ask, lambda answer: answer.error_code, backoff)
    except UnsupportedVersionError:
        if include_fenced:
            raise
        ask = Ask(ANY_NODE, ApiKey.METADATA, metadata_of([]))
        answer = yield from retry(ask, lambda _: ErrorCode.NONE, backoff)
        told = ((each.node_id, each.host, each.port, each.rack) for each in answer.brokers)
        brokers = tuple(BrokerDescription(*each) for each in sorted(told))
        return ClusterDescription(answer.cluster_id, answer.controller_id, brokers)
    if answer.error_code:
        raise admin_error(answer.error_code, answer.error_message, state="describing the cluster")
    described = (
        BrokerDescription(
            *(each.broker_id, each.host, each.port, each.rack, each.is_fenced),
            epoch=None if each.broker_epoch < 0 else each.broker_epoch,
        )
        for each in sorted(answer.brokers, key=lambda each: each.broker_id)
    )
    return ClusterDescription(answer.cluster_id, answer.controller_id, tuple(described))


def describe_features(backoff: Backoff) -> Procedure[Features]:
    """Describe the features of the cluster, and the levels that a broker supports."""

    def build(version: int) -> ApiVersionsRequest:
        require(version, _FEATURES_FROM, "describing features")
        return ApiVersionsRequest(SOFTWARE_NAME, __version__)

    ask = Ask(ANY_NODE, ApiKey.API_VERSIONS, build)
    answer = yield from retry(ask, lambda answer: answer.error_code, backoff)
    if answer.error_code:
        raise admin_error(answer.error_code, state="describing features")
    levels = {each.name: each.max_version_level for each in answer.finalized_features}
    supported = {
        each.name: (each.min_version, each.max_version) for each in answer.supported_features
    }
    found = {
        name: Feature(name, levels.get(name, 0), *supported.get(name, (0, 0)))
        for name in sorted(levels.keys() | supported.keys())
    }
    return Features(answer.finalized_features_epoch, found)


def update_features(
    levels: Mapping[str, int | FeatureLevel],
    backoff: Backoff,
    timeout_ms: int,
    *,
    validate_only: bool,
) -> Procedure[None]:
    """Set levels, all or none; level 0 turns a feature off."""
    wanted = {
        name: level if isinstance(level, FeatureLevel) else FeatureLevel(level)
        for name, level in levels.items()
    }

    def build(version: int) -> UpdateFeaturesRequest:
        if version >= _UPGRADE_TYPE_FROM:
            updates = [
                FeatureUpdateKey(name, each.level, upgrade_type=each.change)
                for name, each in wanted.items()
            ]
            return UpdateFeaturesRequest(timeout_ms, updates, validate_only)
        if validate_only:
            require(version, _UPGRADE_TYPE_FROM, "trying a level")
        updates = [
            FeatureUpdateKey(name, each.level, each.change != LevelChange.UPGRADE)
            for name, each in wanted.items()
        ]
        return UpdateFeaturesRequest(timeout_ms, updates)

    ask = Ask(Controller(), ApiKey.UPDATE_FEATURES, build)
    answer = yield from retry(ask, lambda answer: answer.error_code, backoff)
    failed: dict[str, KafkaError] = {}
    for told in answer.results:  # before version 2 each has a code of its own
        if told.error_code and told.feature in wanted:
            state = f"setting the level of {told.feature!r}"
            failed[told.feature] = admin_error(told.error_code, told.error_message, state=state)
    if answer.error_code and not failed:
        state = f"setting levels of {', '.join(map(repr, wanted))}"
        error = admin_error(answer.error_code, answer.error_message, state=state)
        failed = dict.fromkeys(wanted, error)
    settle(dict.fromkeys(wanted.keys() - failed.keys()), failed)


def describe_quorum(backoff: Backoff) -> Procedure[QuorumDescription]:
    """Describe the voters and observers of the metadata quorum."""
    partition = DescribeQuorumRequestPartitionData(0)
    topic = DescribeQuorumRequestTopicData(_METADATA_TOPIC, [partition])
    ask = Ask(ANY_NODE, ApiKey.DESCRIBE_QUORUM, lambda _: DescribeQuorumRequest([topic]))

    def partition_of(answer: Any) -> Any:
        parts = [part for topic in answer.topics for part in topic.partitions]
        return parts[0] if parts else None

    def code_of(answer: Any) -> int:
        part = partition_of(answer)
        return int(answer.error_code or (part.error_code if part is not None else 0))

    answer = yield from retry(ask, code_of, backoff)
    told = partition_of(answer)
    code, state = code_of(answer), "describing the quorum"
    if code:
        message = answer.error_message if answer.error_code else told.error_message
        raise admin_error(code, message, state=state)
    if told is None:
        raise admin_error(
            ErrorCode.UNKNOWN_SERVER_ERROR, "The broker's answer is empty.", state=state
        )
    return QuorumDescription(
        told.leader_id,
        told.leader_epoch,
        told.high_watermark,
        tuple(map(_replica, told.current_voters)),
        tuple(map(_replica, told.observers)),
        {
            node.node_id: tuple(
                Listener(each.name, each.host, each.port) for each in node.listeners
            )
            for node in answer.nodes
        },
    )


def add_raft_voter(
    voter_id: int,
    directory_id: bytes,
    listeners: Iterable[Listener],
    cluster_id: str | None,
    backoff: Backoff,
    timeout_ms: int,
) -> Procedure[None]:
    """Give a controller a vote (KIP-853)."""
    places = [adding.Listener(*each) for each in listeners]
    request = adding.AddRaftVoterRequest(cluster_id, timeout_ms, voter_id, directory_id, places)
    state = f"adding controller {voter_id} to the voters"
    return _change_voters(ApiKey.ADD_RAFT_VOTER, request, state, backoff)


def remove_raft_voter(
    voter_id: int, directory_id: bytes, cluster_id: str | None, backoff: Backoff
) -> Procedure[None]:
    """Take the vote from a controller (KIP-853)."""
    request = RemoveRaftVoterRequest(cluster_id, voter_id, directory_id)
    state = f"removing controller {voter_id} from the voters"
    return _change_voters(ApiKey.REMOVE_RAFT_VOTER, request, state, backoff)


def _change_voters(api: ApiKey, request: Message, state: str, backoff: Backoff) -> Procedure[None]:
    ask = Ask(Controller(), api, lambda _: request)
    answer = yield from retry(ask, lambda answer: answer.error_code, backoff)
    if answer.error_code:
        raise admin_error(answer.error_code, answer.error_message, state=state)


def _replica(told: Any) -> QuorumReplica:
    return QuorumReplica(
        told.replica_id,
        bytes(told.replica_directory_id),
        told.log_end_offset,
        _known(told.last_fetch_timestamp),
        _known(told.last_caught_up_timestamp),
    )


def _known(timestamp_ms: int) -> int | None:
    return None if timestamp_ms < 0 else timestamp_ms

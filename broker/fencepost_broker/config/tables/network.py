"""Settings of the broker's identity, its listeners, its connections and its requests."""

from __future__ import annotations

from typing import Final

from fencepost_broker.config.setting import (
    Kind,
    Scope,
    Setting,
    boolean,
    integer,
    long,
    string,
    strings,
)
from fencepost_broker.config.tables.without_effect import kept
from fencepost_broker.config.values.endpoints import check_listeners, check_protocol_map
from fencepost_broker.config.values.units import INT_MAX, LONG_MAX, MIB
from fencepost_broker.config.values.value_text import check_form

_NAMED_NUMBER: Final = r".+:[0-9]+"


class NodeSettings:
    """Identity of the broker, and its directories."""

    node_id = integer(
        1,
        "this node's number, unique in the cluster",
        at_least=0,
        kafka=None,
        because="a single broker needs no choice of a number",
        stays=True,
    )
    broker_id = integer(-1, "the old name of node.id, which has the same value", at_least=None)
    process_roles: Setting[tuple[str, ...]] = strings(
        ("broker", "controller"),
        "what this process is",
        one_of=("broker", "controller"),
        may_be_empty=False,
        kafka=None,
        because="one process is a whole cluster unless told otherwise",
        stays=True,
    )
    broker_rack: Setting[str | None] = string(
        None, "the rack of this broker; consumers of the same rack are sent to it"
    )
    log_dirs: Setting[tuple[str, ...] | None] = strings(
        None, "the data directories, instead of the one of log.dir", may_be_empty=False
    )
    log_dir: Setting[tuple[str, ...] | None] = strings(
        None,
        "the data directory; without one, all is kept in memory and gone at exit",
        may_be_empty=False,
        kafka=("/tmp/kafka-logs",),  # noqa: S108  # Kafka's default is told, not used
        because="a test should leave no files",
        stays=True,
    )
    metadata_log_dir = kept(Kind.STRING, None, "the metadata log is in the first data directory")
    features: Setting[tuple[str, ...]] = strings(
        (),
        "the finalized level of features in a new cluster, as transaction.version:1; else the"
        " latest",
        own=True,
        check=lambda words: check_form(words, _NAMED_NUMBER, "NAME:LEVEL"),
        range_text="NAME:LEVEL each",
    )
    unstable_api_versions_enable = boolean(
        False, "whether InitProducerId has version 6, for two-phase commit (KIP-939)", internal=True
    )
    unstable_feature_versions_enable = kept(
        Kind.BOOLEAN, False, "no feature has unstable levels", internal=True
    )


class ListenerSettings:
    """Addresses of the broker, and what it tells clients about them."""

    listeners: Setting[tuple[str, ...]] = strings(
        ("PLAINTEXT://127.0.0.1:9092",),
        "where to listen; no host is every address, port 0 a free one",
        scope=Scope.PER_BROKER,
        may_be_empty=False,
        check=check_listeners,
        range_text="NAME://HOST:PORT each",
        kafka=("PLAINTEXT://:9092",),
        because="a broker without passwords should be reachable from its own machine only",
        stays=True,
    )
    advertised_listeners: Setting[tuple[str, ...] | None] = strings(
        None,
        "where clients are told to connect, if that is not where the broker listens",
        check=check_listeners,
        range_text="NAME://HOST:PORT each",
        may_be_empty=False,
    )
    listener_security_protocol_map = string(
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "the security protocol that each listener name stands for",
        scope=Scope.PER_BROKER,
        check=check_protocol_map,
        range_text="NAME:PROTOCOL each",
    )
    inter_broker_listener_name: Setting[str | None] = string(
        None, "the listener through which brokers talk to each other"
    )
    security_inter_broker_protocol = string(
        "PLAINTEXT",
        "the security protocol between brokers when no listener is named for them",
        one_of=("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    )
    controller_listener_names: Setting[tuple[str, ...]] = strings(
        (),
        "the listeners that belong to the controller",
        kafka=None,
        because="broker and controller of one process need no socket between them",
        stays=True,
    )
    early_start_listeners: Setting[tuple[str, ...] | None] = strings(
        None, "listeners that open before the broker is ready", ignored=True
    )


class ConnectionSettings:
    """Limits, timeouts and buffers of connections."""

    max_connections = integer(
        INT_MAX, "how many connections there may be at once", scope=Scope.CLUSTER, at_least=0
    )
    max_connections_per_ip = integer(
        INT_MAX,
        "how many connections one address may have at once",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    max_connections_per_ip_overrides = string(
        "",
        "limits of single addresses, as 127.0.0.1:200",
        scope=Scope.CLUSTER,
        check=lambda given: _check_address_limits(given),
        range_text="ADDRESS:NUMBER each",
    )
    max_connection_creation_rate = integer(
        INT_MAX,
        "how many connections a second may be opened; with a listener's prefix, at that listener",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    connections_max_idle_ms = long(
        600_000, "how long a connection may be silent before it is closed; negative is for ever"
    )
    connections_login_timeout_ms = integer(
        60_000,
        "how long a connection of a SASL listener may take to log in",
        own=True,
        at_least=1,
    )
    connection_failed_authentication_delay_ms = integer(
        100, "how long the answer to a failed authentication is delayed", at_least=0
    )
    socket_request_max_bytes = integer(
        100 * MIB, "the longest request; a longer one closes its connection", at_least=1
    )
    socket_listen_backlog_size = integer(
        1024,
        "how many connections may wait to be accepted",
        at_least=1,
        kafka=50,
        because="the clients of a test all come at once",
    )
    socket_receive_buffer_bytes = integer(
        -1,
        "the system's receive buffer of a connection; -1 leaves it as it is",
        kafka=102_400,
        because="the system adjusts its own buffers",
    )
    socket_send_buffer_bytes = integer(
        512 * 1024,
        "the system's send buffer of a connection; -1 leaves it as it is",
        kafka=102_400,
        because="a consumer's records cost the least CPU time then",
    )
    socket_connection_setup_timeout_ms = long(
        10_000, "how long this broker waits for a connection it opens", ignored=True
    )
    socket_connection_setup_timeout_max_ms = long(
        30_000, "how long it waits at most when such connections keep failing", ignored=True
    )
    connection_requests_max = integer(
        1000,
        "how many requests of one connection may be unanswered before it is read no further",
        own=True,
        at_least=1,
    )
    connection_answers_max_bytes = integer(
        64 * 1024,
        "how many bytes of answers a slow client may leave unread before it is read no further",
        own=True,
        at_least=1,
    )
    requests_parked_max = integer(
        100_000,
        "how many requests of all connections may be waiting for something to happen",
        own=True,
        at_least=1,
    )
    shutdown_timeout_ms = integer(
        5000,
        "how long requests in flight may take to finish once the broker is told to stop",
        own=True,
        at_least=0,
    )


class QuotaSettings:
    """Quotas of replication, and the windows over which rates are measured."""

    quota_window_num = integer(
        11, "how many windows the rates of quotas are measured over", at_least=1
    )
    quota_window_size_seconds = integer(
        1,
        "how long each of them is; no client is held back longer than one because of its requests'"
        " time or its connections",
        at_least=1,
    )
    controller_quota_window_num = integer(
        11,
        "how many windows of controller_mutation_rate a client may use up at once",
        at_least=1,
    )
    controller_quota_window_size_seconds = integer(1, "how long each of them is", at_least=1)
    leader_replication_throttled_rate = long(
        LONG_MAX,
        "how many bytes per second of leader.replication.throttled.replicas the broker sends to"
        " followers that are not in sync",
        at_least=0,
        scope=Scope.CLUSTER,
    )
    follower_replication_throttled_rate = long(
        LONG_MAX,
        "how many bytes per second its follower.replication.throttled.replicas copy while they are"
        " not in sync",
        at_least=0,
        scope=Scope.CLUSTER,
    )
    replication_quota_window_num = integer(
        11, "how many windows these two rates are measured over", at_least=1
    )
    replication_quota_window_size_seconds = integer(1, "how long each of them is", at_least=1)


class RequestSettings:
    """Limits of requests, and how they are processed."""

    fetch_max_bytes = integer(
        55 * MIB, "the largest response to a fetch, whatever it asks for", at_least=1024
    )
    max_incremental_fetch_session_cache_slots = integer(
        1000, "how many fetch sessions (KIP-227) are kept", at_least=0
    )
    max_request_partition_size_limit = integer(
        2000, "how many partitions one DescribeTopicPartitions lists", at_least=1
    )
    message_max_bytes = integer(
        MIB + 12,
        "the largest batch that is accepted, after compression",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    compression_type = string(
        "producer",
        "the codec batches are stored with; producer leaves each as it came",
        scope=Scope.CLUSTER,
        one_of=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    )
    compression_gzip_level = integer(
        -1,
        "how hard gzip tries; -1 is its own choice",
        scope=Scope.CLUSTER,
        at_least=-1,
        at_most=9,
        check=lambda level: "gzip has no such level" if level == 0 else None,
        range_text="not 0",
    )
    compression_lz4_level = integer(
        9, "how hard lz4 tries", scope=Scope.CLUSTER, at_least=1, at_most=17
    )
    compression_zstd_level = integer(
        3,
        "how hard zstd tries; negative ones are faster still",
        scope=Scope.CLUSTER,
        at_least=-131_072,
        at_most=22,
    )
    num_partitions = integer(1, "how many partitions a topic gets by default", at_least=1)
    default_replication_factor = integer(1, "how many replicas a topic gets by default")
    auto_create_topics_enable = boolean(
        True, "whether a Metadata request creates a topic that does not exist"
    )
    delete_topic_enable = boolean(True, "whether topics can be deleted")
    request_timeout_ms = integer(30_000, "how long this broker waits for another one's answer")
    queued_max_requests = integer(
        500,
        "how many requests wait for a thread",
        at_least=1,
        ignored=True,
    )
    queued_max_request_bytes = long(
        256 * MIB,
        "how many bytes of unprocessed requests may be in memory; the rest waits unread, 0 and less"
        " is no limit",
        kafka=-1,
        because="incomplete requests of a few clients could take a small machine's memory",
    )
    telemetry_max_bytes = integer(
        MIB, "the largest metrics that a client may send at once (KIP-714)", at_least=1
    )
    offset_metadata_max_bytes = integer(
        4096, "the longest text that a consumer may store beside an offset"
    )
    delete_records_purgatory_purge_interval_requests = integer(
        1, "how often completed DeleteRecords are purged", ignored=True
    )
    fetch_purgatory_purge_interval_requests = integer(
        1000, "how often completed fetches are purged", ignored=True
    )
    producer_purgatory_purge_interval_requests = integer(
        1000, "how often completed produce requests are purged", ignored=True
    )


class ThreadSettings:
    """Kafka's threads. Here, one thread does all work, so these have no effect."""

    background_threads = integer(
        10, "threads for work of all kinds", scope=Scope.CLUSTER, at_least=1, ignored=True
    )
    num_io_threads = integer(
        8, "threads that work on requests", scope=Scope.CLUSTER, at_least=1, ignored=True
    )
    num_network_threads = integer(
        3, "threads that read and write sockets", scope=Scope.CLUSTER, at_least=1, ignored=True
    )
    num_recovery_threads_per_data_dir = integer(
        2, "threads that check logs at start", scope=Scope.CLUSTER, at_least=1, ignored=True
    )
    num_replica_fetchers = integer(
        1, "threads that copy from each leader", scope=Scope.CLUSTER, at_least=1, ignored=True
    )
    num_replica_alter_log_dirs_threads: Setting[int | None] = integer(
        None, "threads that move replicas between data directories", ignored=True
    )
    group_coordinator_threads = integer(
        4, "threads of the group coordinator", at_least=1, ignored=True
    )
    group_coordinator_background_threads = integer(
        2, "threads for long work of the group coordinator", at_least=1, ignored=True
    )


def parse_address_limits(given: str) -> dict[str, int]:
    """Parse the limit of each address; raises ValueError."""
    found: dict[str, int] = {}
    for word in filter(None, given.split(",")):
        address, colon, limit = word.strip().rpartition(":")
        if not (address and colon and limit.isascii() and limit.isdigit()):
            raise ValueError(f"{word.strip()} is not of the form ADDRESS:NUMBER")
        found[address] = int(limit)
    return found


def _check_address_limits(given: str) -> str | None:
    try:
        parse_address_limits(given)
    except ValueError as error:
        return str(error)
    return None

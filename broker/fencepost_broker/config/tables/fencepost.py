"""Settings that Kafka does not have."""

from __future__ import annotations

import re
from typing import Final

from fencepost_broker.config.setting import Setting, boolean, double, integer, long, string, strings
from fencepost_broker.config.values.endpoints import check_control_address, check_http_url
from fencepost_broker.config.values.releases import RELEASES
from fencepost_broker.config.values.value_text import check_form
from fencepost_broker.config.values.version_caps import check_version_caps

_BROKER_ID: Final = "(?a)[0-9]{1,10}"
_CLUSTER_ID: Final = r"(?a)[\w-]{1,249}"


class OwnSettings:
    """Fencepost's own settings: durability, memory, KIP-609, the tap and the control port."""

    kafka_defaults = boolean(
        False,
        "whether Apache Kafka's defaults replace those that differ on purpose",
        own=True,
    )
    kafka_release: Setting[str | None] = string(
        None,
        "the release of Apache Kafka that clients meet: its APIs, versions, features and errors;"
        " Fencepost's own behavior is off",
        own=True,
        one_of=RELEASES,
    )
    client_telemetry_enable = boolean(
        False,
        "whether clients are asked for their metrics (KIP-714), as Apache Kafka does if it has a"
        " reporter that takes them",
        own=True,
    )
    cluster_id: Setting[str | None] = string(
        None,
        "the id of the cluster; a data directory of another one is refused",
        own=True,
        check=lambda given: None if re.fullmatch(_CLUSTER_ID, given) else "it is not a valid id",
        range_text="1 to 249 letters, digits, - and _",
    )
    api_versions_max: Setting[tuple[str, ...]] = strings(
        (),
        "the highest version of APIs, as TxnOffsetCommit:2; it is stronger than kafka.release",
        own=True,
        check=check_version_caps,
        range_text="API:VERSION each",
    )
    fsync = string(
        "interval",
        "when acknowledged records are on disk: as log.flush.interval.* say, or always",
        own=True,
        one_of=("interval", "always"),
    )
    memory_max_bytes = long(
        256 * 1024 * 1024,
        "how much of topics without a data directory stays in memory; more goes to temporary files."
        " The memory of deleted records is kept for later ones",
        own=True,
        at_least=0,
    )
    record_validation = string(
        "few",
        "which batches have their records validated: all, as in Kafka; those with few records (up"
        " to 10, and 1 MB uncompressed), while records of larger compressed batches are only"
        " counted; or none. Validation takes 0.6 us for each record",
        own=True,
        one_of=("all", "few", "none"),
        kafka="all",
        because="validating every record would double the time of a Produce request",
    )
    cleaner_keys_max = integer(
        500_000,
        "how many distinct keys one run of compaction can have",
        own=True,
        at_least=1,
    )
    auto_create_topics_delay_ms = integer(
        0,
        "how long a topic that a Metadata request creates is still unknown",
        own=True,
        at_least=0,
        at_most=60_000,
        kafka=30,
        because="a topic that is there at once is what tests want; Kafka needs some 30 ms",
    )
    metadata_log_recover = boolean(
        False,
        "whether the controller starts with a damaged metadata log: the damaged files are"
        " renamed, and everything written after the damage is lost",
        own=True,
    )
    transaction_park_enable = boolean(
        True,
        "whether requests wait for the previous transaction's markers (KIP-609); otherwise as in"
        " Kafka",
        own=True,
        kafka=False,
        because="a client that begins its next transaction at once need not retry",
    )
    transaction_park_max_ms = integer(
        1000,
        "how long they wait before the answer is CONCURRENT_TRANSACTIONS",
        own=True,
        at_least=1,
    )
    group_leave_answers_fetches = boolean(
        True,
        "whether the waiting Fetch requests of a consumer are answered when it leaves its group;"
        " otherwise they wait for fetch.max.wait.ms, as in Kafka",
        own=True,
        kafka=False,
        because="Java's consumer closes only after its last Fetch, which is half a second later",
    )
    offset_fetch_pending_legacy = string(
        "retry",
        "OffsetFetch below v7 while offsets are pending: retry (COORDINATOR_LOAD_IN_PROGRESS), or"
        " kafka (the offset before)",
        own=True,
        one_of=("retry", "kafka"),
        kafka="kafka",
        because="a consumer that starts meanwhile would read records again that were consumed",
    )
    controller_producer_ids_rate = double(
        100.0,
        "how many blocks of producer ids a broker gets in a second before it must wait; 0 is no"
        " limit",
        own=True,
        at_least=0,
        kafka=0.0,
        because="a client that makes producers in a loop would use up the ids of the cluster",
    )
    controller_producer_ids_brokers: Setting[tuple[str, ...]] = strings(
        (),
        "which brokers, by their ids, may have blocks of producer ids; empty is all",
        own=True,
        check=lambda words: check_form(words, _BROKER_ID, "BROKER"),
        range_text="ids of brokers",
    )
    producer_id_block_import: Setting[str | None] = string(
        None,
        "a file with ZooKeeper's last block of producer ids, which allocations continue",
        own=True,
    )
    tap_enable = boolean(
        True,
        "whether fencepost tap can watch this broker; by default not if every listener of clients"
        " requires a login",
        own=True,
    )
    tap_host = string(
        "127.0.0.1",
        "the address on which the tap takes subscribers; any but loopback shows data to others",
        own=True,
    )
    tap_port = integer(
        -1,
        "the tap's UDP port; 0 is a free one, -1 the number of the first listener's port",
        own=True,
        at_least=-1,
        at_most=65_535,
    )
    tap_subscribers_max = integer(
        8, "how many subscribers the tap can have at once", own=True, at_least=0
    )
    tap_lease_ms = integer(
        10_000,
        "how long a subscription lasts without being renewed",
        own=True,
        at_least=1,
    )
    tap_datagram_max_bytes = integer(
        8192,
        "the largest datagram sent to a subscriber; an event that is larger is cut",
        own=True,
        at_least=1024,
        at_most=65_507,
    )
    control_address: Setting[str | None] = string(
        None,
        "where the control port listens: PORT, which is at 127.0.0.1, or HOST:PORT; without it,"
        " there is no control port",
        own=True,
        check=check_control_address,
        range_text="PORT or HOST:PORT",
    )
    statsd_address: Setting[str | None] = string(
        None,
        "where metrics are sent to StatsD by UDP: HOST:PORT, or PORT at 127.0.0.1; without it, they"
        " are not sent",
        own=True,
        check=check_control_address,
        range_text="PORT or HOST:PORT",
    )
    otlp_endpoint: Setting[str | None] = string(
        None,
        "where metrics are sent by OTLP, OpenTelemetry's protocol, over HTTP: http://HOST:PORT, to"
        " which /v1/metrics is added; without it, they are not sent",
        own=True,
        check=check_http_url,
        range_text="a URL",
    )
    otlp_traces = boolean(
        False,
        "whether spans of requests and transactions are sent to otlp.endpoint, too, at /v1/traces",
        own=True,
    )
    control_token_file: Setting[str | None] = string(
        None,
        "a file with the token that requests to the control port must have; an address that other"
        " machines reach needs one",
        own=True,
    )

"""The settings of Producer, Consumer and Admin: one declaration for each.

Checks of keyword arguments, Kafka's names (``kafka_names``) and the reference page
(docs/reference/client-settings.md) use these declarations. Defaults are in the constructors'
signatures.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, TypeAlias, get_args

from fencepost_client.errors import ConfigError

Acks: TypeAlias = Literal["all", -1, 1, 0, "-1", "1", "0"]
CompressionName: TypeAlias = Literal["none", "gzip", "snappy", "lz4", "zstd"]
GroupProtocol: TypeAlias = Literal["classic", "consumer"]
AcknowledgementMode: TypeAlias = Literal["implicit", "explicit"]
AcquireMode: TypeAlias = Literal["batch_optimized", "record_limit"]
IsolationLevel: TypeAlias = Literal["read_uncommitted", "read_committed"]
OffsetReset: TypeAlias = Literal["latest", "earliest", "none"]
SaslMechanism: TypeAlias = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
SecurityProtocol: TypeAlias = Literal["PLAINTEXT", "SASL_PLAINTEXT", "SSL", "SASL_SSL"]

_INT_MAX: Final = (1 << 31) - 1


class Kind(Enum):
    """The types of values; each value of this enumeration is a description."""

    INTEGER = "a whole number"
    BOOLEAN = "True or False"
    TEXT = "a str"
    TEXTS = "a list of str"
    ADDRESSES = "a string or a list of strings"
    ANY = "an object"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: its names, its values, and a text about it."""

    name: str
    """Kafka's name; empty where Kafka has no such setting."""
    keyword: str
    kind: Kind
    help: str
    least: int = 0
    most: int = _INT_MAX
    choices: tuple[Any, ...] = ()

    @property
    def is_secret(self) -> bool:
        """Whether messages must not contain the value."""
        return any(word in self.keyword for word in ("password", "jaas", "secret"))

    @property
    def allowed(self) -> str:
        """A description of its values."""
        if self.choices:
            return f"one of {', '.join(dict.fromkeys(map(str, self.choices)))}"
        if self.kind is not Kind.INTEGER:
            return str(self.kind.value)
        most = "" if self.most == _INT_MAX else f", at most {self.most}"
        return f"{self.kind.value}, at least {self.least}{most}"

    def read(self, text: str) -> Any:
        """Parse a value, for example of a properties file."""
        match self.kind:
            case Kind.INTEGER:
                return self._read_integer(text)
            case Kind.TEXTS:
                return [part.strip() for part in text.split(",") if part.strip()]
            case Kind.BOOLEAN:
                return self._read_boolean(text.lower())
        return text

    def check(self, value: Any) -> None:
        """Raise a ``ConfigError`` for an invalid value."""
        if not self._fits(value):
            told = "[hidden]" if self.is_secret else f"{value!r:.200}"
            example = ""
            if self.kind is Kind.INTEGER and isinstance(value, str) and value.isdecimal():
                example = f", as {value} without quotes"
            raise ConfigError(f"{self.keyword} cannot be {told}: it is {self.allowed}{example}")

    def _fits(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices and not isinstance(value, bool)
        match self.kind:
            case Kind.INTEGER:
                is_number = isinstance(value, int) and not isinstance(value, bool)
                return is_number and self.least <= value <= self.most
            case Kind.BOOLEAN:
                return isinstance(value, bool)
            case Kind.TEXT:
                return isinstance(value, str)
            case Kind.TEXTS:
                return _are_texts(value)
            case Kind.ADDRESSES:
                return isinstance(value, str) or _are_texts(value)
        return True

    def _read_integer(self, text: str) -> int:
        try:
            return int(text)
        except ValueError:
            raise ValueError(f"it is {self.allowed}") from None

    def _read_boolean(self, text: str) -> bool:
        if self.keyword == "ssl_check_hostname":
            if text not in {"https", "none", ""}:
                raise ValueError("write https, or none (or nothing)")
            return text == "https"
        if text not in {"true", "false"}:
            raise ValueError("write true or false")
        return text == "true"


def _are_texts(value: Any) -> bool:
    return (
        isinstance(value, Iterable)
        and not isinstance(value, str | bytes)
        and all(isinstance(each, str) for each in value)
    )


Settings: TypeAlias = Mapping[str, Setting]
"""Index settings by keyword."""


def check_settings(who: str, settings: Settings, given: Mapping[str, Any]) -> None:
    """Check keyword arguments: ``given`` has those of a signature, and of its ``**security``.

    ``None`` means not set. The error for an unknown name suggests the nearest one.
    """
    for keyword, value in given.items():
        if value is not None and keyword in settings:
            settings[keyword].check(value)
    for keyword, value in given.get("security", {}).items():
        if keyword not in settings:
            near = difflib.get_close_matches(keyword, settings, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise TypeError(f"{who} has no setting {keyword!r:.100}{hint}")
        if value is not None:
            settings[keyword].check(value)


def _by_keyword(*settings: Setting) -> dict[str, Setting]:
    return {each.keyword: each for each in settings}


COMMON: Final = _by_keyword(
    Setting(
        "bootstrap.servers", "bootstrap_servers", Kind.ADDRESSES,
        "the brokers to connect to first, as host:port; they name the others",
    ),
    Setting(
        "client.id", "client_id", Kind.TEXT,
        "the name of this client in brokers' logs and quotas",
    ),
    Setting(
        "request.timeout.ms", "request_timeout_ms", Kind.INTEGER,
        "how long to wait for an answer before the connection is closed", least=1,
    ),
    Setting(
        "retry.backoff.ms", "retry_backoff_ms", Kind.INTEGER,
        "the pause before the first retry; it doubles with each further one",
    ),
    Setting(
        "retry.backoff.max.ms", "retry_backoff_max_ms", Kind.INTEGER,
        "the longest pause between retries",
    ),
    Setting(
        "metadata.max.age.ms", "metadata_max_age_ms", Kind.INTEGER,
        "the age at which metadata of topics and leaders is refreshed",
    ),
    Setting(
        "security.protocol", "security_protocol", Kind.TEXT,
        "whether connections use TLS, SASL or both",
        choices=get_args(SecurityProtocol),
    ),
    Setting(
        "sasl.mechanism", "sasl_mechanism", Kind.TEXT, "how to log in",
        choices=get_args(SaslMechanism),
    ),
    Setting("", "sasl_plain_username", Kind.TEXT, "the user name for SASL"),
    Setting("", "sasl_plain_password", Kind.TEXT, "the password for SASL"),
    Setting(
        "sasl.jaas.config", "sasl_jaas_config", Kind.TEXT,
        "user name and password in the format of Java clients, instead of the two above",
    ),
    Setting(
        "", "sasl_oauth_token_provider", Kind.ANY,
        "for OAUTHBEARER: a function that returns a token; it is called at each login",
    ),
    Setting(
        "sasl.oauthbearer.token.endpoint.url", "sasl_oauthbearer_token_endpoint_url", Kind.TEXT,
        "for OAUTHBEARER: where to get tokens for client credentials (KIP-768), by http or https",
    ),
    Setting(
        "sasl.oauthbearer.client.credentials.client.id",
        "sasl_oauthbearer_client_credentials_client_id", Kind.TEXT,
        "the id of this client at the token endpoint",
    ),
    Setting(
        "sasl.oauthbearer.client.credentials.client.secret",
        "sasl_oauthbearer_client_credentials_client_secret", Kind.TEXT,
        "its secret there",
    ),
    Setting(
        "sasl.oauthbearer.scope", "sasl_oauthbearer_scope", Kind.TEXT,
        "the scope to ask the token endpoint for",
    ),
    Setting("", "ssl_context", Kind.ANY, "an ssl.SSLContext, instead of the files below"),
    Setting(
        "ssl.ca.location", "ssl_ca_location", Kind.TEXT,
        "a PEM file with the certificate authorities that are trusted; by default the system's",
    ),
    Setting(
        "ssl.certificate.location", "ssl_certificate_location", Kind.TEXT,
        "a PEM file with this client's certificate",
    ),
    Setting("ssl.key.location", "ssl_key_location", Kind.TEXT, "a PEM file with its private key"),
    Setting("ssl.key.password", "ssl_key_password", Kind.TEXT, "decrypts that key"),
    Setting(
        "ssl.endpoint.identification.algorithm", "ssl_check_hostname", Kind.BOOLEAN,
        "whether a broker's certificate must match its host name (https or none in a file)",
    ),
    Setting("", "metrics", Kind.ANY, "a RequestMetrics that counts requests and their times"),
)  # fmt: skip

_HISTORY: Final = Setting(
    "", "history", Kind.ANY, "a History that writes what this client does, for `fencepost check`"
)

PRODUCER: Final = COMMON | _by_keyword(
    Setting(
        "acks", "acks", Kind.TEXT, "which replicas must have a record before it is acknowledged",
        choices=get_args(Acks),
    ),
    Setting(
        "batch.size", "batch_size", Kind.INTEGER,
        "the size at which a batch is full, in bytes before compression",
    ),
    Setting(
        "buffer.memory", "buffer_memory", Kind.INTEGER,
        "the bytes of unacknowledged records at which send waits", most=(1 << 63) - 1,
    ),
    Setting(
        "compression.type", "compression", Kind.TEXT, "the compression of batches",
        choices=get_args(CompressionName),
    ),
    Setting(
        "delivery.timeout.ms", "delivery_timeout_ms", Kind.INTEGER,
        "how long a record may take to be acknowledged, with all retries",
    ),
    Setting(
        "enable.idempotence", "enable_idempotence", Kind.BOOLEAN,
        "whether brokers drop duplicates, so that each record is written once and in order",
    ),
    Setting(
        "linger.ms", "linger_ms", Kind.INTEGER,
        "how long a batch that is not full waits for more records",
    ),
    Setting(
        "max.block.ms", "max_block_ms", Kind.INTEGER,
        "how long send and calls for transactions wait at most",
    ),
    Setting(
        "max.in.flight.requests.per.connection", "max_in_flight", Kind.INTEGER,
        "how many requests without an answer a connection may have", least=1,
    ),
    Setting(
        "max.request.size", "max_request_size", Kind.INTEGER,
        "the largest request, and so the largest record, in bytes",
    ),
    Setting(
        "transaction.timeout.ms", "transaction_timeout_ms", Kind.INTEGER,
        "the time after which the coordinator aborts an open transaction", least=1,
    ),
    Setting(
        "transaction.two.phase.commit.enable", "transaction_two_phase_commit_enable", Kind.BOOLEAN,
        "whether transactions can be prepared, and stay open until they are ended (KIP-939)",
    ),
    Setting(
        "", "keep_prepared_txn", Kind.BOOLEAN,
        "whether the start keeps the transaction that is open, to be completed (KIP-939)",
    ),
    Setting(
        "transactional.id", "transactional_id", Kind.TEXT,
        "the name of a transactional producer; it stays the same over restarts",
    ),
    Setting(
        "", "partitioner", Kind.ANY,
        "the function that chooses a key's partition of so many; by default Kafka's murmur2",
    ),
    _HISTORY,
)  # fmt: skip

ADMIN: Final = COMMON | _by_keyword(
    Setting(
        "default.api.timeout.ms", "default_api_timeout_ms", Kind.INTEGER,
        "how long a call may take, with all retries",
    ),
)  # fmt: skip

CONSUMER: Final = ADMIN | _by_keyword(
    _HISTORY,
    Setting(
        "auto.commit.interval.ms", "auto_commit_interval_ms", Kind.INTEGER,
        "how often positions are committed with enable_auto_commit",
    ),
    Setting(
        "auto.offset.reset", "auto_offset_reset", Kind.TEXT,
        "where to begin without a committed offset; none raises an error",
        choices=get_args(OffsetReset),
    ),
    Setting(
        "client.rack", "client_rack", Kind.TEXT,
        "the rack of this client: it reads from a replica in that rack",
    ),
    Setting(
        "enable.auto.commit", "enable_auto_commit", Kind.BOOLEAN,
        "whether positions are committed automatically",
    ),
    Setting(
        "fetch.max.bytes", "fetch_max_bytes", Kind.INTEGER, "the most bytes of records in an answer"
    ),
    Setting(
        "fetch.max.wait.ms", "fetch_max_wait_ms", Kind.INTEGER,
        "how long a broker waits for fetch_min_bytes",
    ),
    Setting(
        "fetch.min.bytes", "fetch_min_bytes", Kind.INTEGER,
        "how many bytes of records a broker waits for before it answers",
    ),
    Setting("group.id", "group_id", Kind.TEXT, "the consumer group that this consumer joins"),
    Setting(
        "group.instance.id", "group_instance_id", Kind.TEXT,
        "the name of a static member; it stays the same over restarts",
    ),
    Setting(
        "group.protocol", "group_protocol", Kind.TEXT,
        "whether members (classic) or the broker (consumer, KIP-848) assign partitions",
        choices=get_args(GroupProtocol),
    ),
    Setting(
        "group.remote.assignor", "group_remote_assignor", Kind.TEXT,
        "the broker's assignor for group_protocol=consumer: uniform or range",
    ),
    Setting(
        "heartbeat.interval.ms", "heartbeat_interval_ms", Kind.INTEGER,
        "how often a member of a classic group sends a heartbeat", least=1,
    ),
    Setting(
        "isolation.level", "isolation_level", Kind.TEXT,
        "whether records of open and aborted transactions are read",
        choices=get_args(IsolationLevel),
    ),
    Setting(
        "max.partition.fetch.bytes", "max_partition_fetch_bytes", Kind.INTEGER,
        "the most bytes of one partition in an answer",
    ),
    Setting(
        "max.poll.interval.ms", "max_poll_interval_ms", Kind.INTEGER,
        "the longest time between two calls for records before the member leaves its group",
        least=1,
    ),
    Setting(
        "max.poll.records", "max_poll_records", Kind.INTEGER,
        "the most records that one call returns", least=1,
    ),
    Setting(
        "partition.assignment.strategy", "partition_assignment_strategy", Kind.TEXTS,
        "the assignors of a classic group, the preferred one first",
    ),
    Setting(
        "session.timeout.ms", "session_timeout_ms", Kind.INTEGER,
        "the time without a heartbeat after which a member of a classic group is removed", least=1,
    ),
)  # fmt: skip

_OF_SHARE_CONSUMERS_TOO: Final = (
    "client_rack",
    "fetch_max_bytes",
    "fetch_max_wait_ms",
    "fetch_min_bytes",
    "max_poll_records",
)
_LIKE_CONSUMERS: Final = {name: CONSUMER[name] for name in _OF_SHARE_CONSUMERS_TOO}
SHARE_CONSUMER: Final = ADMIN | _LIKE_CONSUMERS | _by_keyword(
    Setting("group.id", "group_id", Kind.TEXT, "the share group that this consumer joins"),
    Setting(
        "share.acknowledgement.mode", "share_acknowledgement_mode", Kind.TEXT,
        "whether the next call accepts records (implicit) or acknowledge says so for each",
        choices=get_args(AcknowledgementMode),
    ),
    Setting(
        "share.acquire.mode", "share_acquire_mode", Kind.TEXT,
        "whether whole batches may exceed max_poll_records (batch_optimized) or not (record_limit)",
        choices=get_args(AcquireMode),
    ),
)  # fmt: skip

"""Kafka's names of settings, and what they are called here."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from fencepost_protocol.records.compression import Compression

from fencepost_client.errors import ConfigError


class Setting(NamedTuple):
    """A keyword argument, and how a text from a properties file becomes its value."""

    keyword: str
    read: Callable[[str], Any] = str


_ACKS: Final = {"all": -1, "-1": -1, "0": 0, "1": 1}
Names: TypeAlias = Mapping[str, Setting]


def _boolean(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError("write true or false")
    return text.lower() == "true"


def read_acks(value: int | str) -> int:
    """``acks``: who has to have a record before it is acknowledged."""
    if str(value) not in _ACKS:
        raise ConfigError(f"acks is {value!r}; it can be 'all', 1 or 0")
    return _ACKS[str(value)]


def read_compression(value: str) -> Compression:
    """``compression``: by its name."""
    try:
        return Compression[value.upper()]
    except KeyError:
        names = ", ".join(codec.name.lower() for codec in Compression)
        raise ConfigError(f"compression is {value!r}; it can be {names}") from None


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _checks_hostname(text: str) -> bool:
    if text.lower() not in {"https", "none", ""}:
        raise ValueError("write https, or none (or nothing)")
    return text.lower() == "https"


COMMON_NAMES: Final[Names] = {
    "bootstrap.servers": Setting("bootstrap_servers"),
    "client.id": Setting("client_id"),
    "request.timeout.ms": Setting("request_timeout_ms", int),
    "retry.backoff.ms": Setting("retry_backoff_ms", int),
    "retry.backoff.max.ms": Setting("retry_backoff_max_ms", int),
    "metadata.max.age.ms": Setting("metadata_max_age_ms", int),
    "sasl.jaas.config": Setting("sasl_jaas_config"),
    "sasl.mechanism": Setting("sasl_mechanism"),
    "security.protocol": Setting("security_protocol"),
    "ssl.ca.location": Setting("ssl_ca_location"),
    "ssl.certificate.location": Setting("ssl_certificate_location"),
    "ssl.endpoint.identification.algorithm": Setting("ssl_check_hostname", _checks_hostname),
    "ssl.key.location": Setting("ssl_key_location"),
    "ssl.key.password": Setting("ssl_key_password"),
}
PRODUCER_NAMES: Final[Names] = {
    **COMMON_NAMES,
    "acks": Setting("acks"),
    "batch.size": Setting("batch_size", int),
    "buffer.memory": Setting("buffer_memory", int),
    "compression.type": Setting("compression"),
    "delivery.timeout.ms": Setting("delivery_timeout_ms", int),
    "enable.idempotence": Setting("enable_idempotence", _boolean),
    "linger.ms": Setting("linger_ms", int),
    "max.block.ms": Setting("max_block_ms", int),
    "max.in.flight.requests.per.connection": Setting("max_in_flight", int),
    "max.request.size": Setting("max_request_size", int),
    "transaction.timeout.ms": Setting("transaction_timeout_ms", int),
    "transactional.id": Setting("transactional_id"),
}
ADMIN_NAMES: Final[Names] = {
    **COMMON_NAMES,
    "default.api.timeout.ms": Setting("default_api_timeout_ms", int),
}
CONSUMER_NAMES: Final[Names] = {
    **COMMON_NAMES,
    "auto.commit.interval.ms": Setting("auto_commit_interval_ms", int),
    "auto.offset.reset": Setting("auto_offset_reset"),
    "default.api.timeout.ms": Setting("default_api_timeout_ms", int),
    "client.rack": Setting("client_rack"),
    "enable.auto.commit": Setting("enable_auto_commit", _boolean),
    "fetch.max.bytes": Setting("fetch_max_bytes", int),
    "fetch.max.wait.ms": Setting("fetch_max_wait_ms", int),
    "fetch.min.bytes": Setting("fetch_min_bytes", int),
    "group.id": Setting("group_id"),
    "group.instance.id": Setting("group_instance_id"),
    "group.protocol": Setting("group_protocol"),
    "group.remote.assignor": Setting("group_remote_assignor"),
    "heartbeat.interval.ms": Setting("heartbeat_interval_ms", int),
    "isolation.level": Setting("isolation_level"),
    "max.partition.fetch.bytes": Setting("max_partition_fetch_bytes", int),
    "max.poll.interval.ms": Setting("max_poll_interval_ms", int),
    "max.poll.records": Setting("max_poll_records", int),
    "partition.assignment.strategy": Setting("partition_assignment_strategy", _list),
    "session.timeout.ms": Setting("session_timeout_ms", int),
}


def from_kafka_names(config: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Keyword arguments for settings by Kafka's names; texts are read, other values are taken."""
    found: dict[str, Any] = {}
    for name, value in config.items():
        setting = names.get(name)
        if setting is None:
            nearest = difflib.get_close_matches(name, names, 1, 0.0)
            raise ConfigError(
                f"{name!r} is no setting of this client; the nearest is {nearest[0]!r}"
            )
        try:
            found[setting.keyword] = setting.read(value) if isinstance(value, str) else value
        except ValueError as error:
            raise ConfigError(f"{name} cannot be {value!r}: {error}") from error
    if "bootstrap_servers" not in found:
        raise ConfigError("bootstrap.servers is missing: write host:port")
    return found


def read_properties(text: str) -> dict[str, str]:
    """``name=value`` lines of a properties file; ValueError names the line that is none.

    Continued lines are refused, and Java's escapes stand for themselves: no setting of ours needs
    either.
    """
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line[0] in "#!":
            continue
        at = min((place for sign in "=:" if (place := line.find(sign)) >= 0), default=-1)
        if at < 1:
            raise ValueError(f"line {number}: name=value is wanted, not {line!r:.100}")
        if line.endswith("\\"):
            raise ValueError(f"line {number}: write it in one line, continued ones are not read")
        found[line[:at].strip()] = line[at + 1 :].strip()
    return found

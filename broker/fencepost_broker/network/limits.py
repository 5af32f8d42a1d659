"""The limits of one server's connections and requests."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Self

from fencepost_broker.config import Settings
from fencepost_broker.config.tables.network import parse_address_limits
from fencepost_broker.network.queued_bytes import UNLIMITED


class Limits(NamedTuple):
    """Limits of connections and requests, with Kafka's defaults where Kafka has them."""

    frame_bytes_max: int = 104_857_600
    connections_max: int = 2**31 - 1
    connections_per_address_max: int = 2**31 - 1
    waiting_requests_max: int = 1000
    """Per connection, while one request is parked."""
    parked_requests_max: int = 100_000
    """For all connections together."""
    answers_bytes_max: int = 65_536
    """Per connection: reading stops when more bytes of answers are unsent."""
    idle_ms_max: int = 600_000
    """Negative means no limit."""
    connections_max_of_address: Mapping[str, int] = MappingProxyType({})
    """By address, in place of ``connections_per_address_max``."""
    backlog: int = 1024
    receive_buffer_bytes: int = -1
    send_buffer_bytes: int = -1
    """For the system's buffers of a connection; -1 keeps the default sizes."""
    login_ms_max: int = 60_000
    """For a TLS handshake, if shorter than ``tls.HANDSHAKE_S_MAX``."""
    queued_bytes_max: int = UNLIMITED
    """For all connections together: bytes of requests that are not carried out yet."""

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the limits that a broker's settings define."""
        return cls(
            settings.socket_request_max_bytes,
            settings.max_connections,
            settings.max_connections_per_ip,
            settings.connection_requests_max,
            settings.requests_parked_max,
            settings.connection_answers_max_bytes,
            settings.connections_max_idle_ms,
            parse_address_limits(settings.max_connections_per_ip_overrides),
            settings.socket_listen_backlog_size,
            settings.socket_receive_buffer_bytes,
            settings.socket_send_buffer_bytes,
            settings.connections_login_timeout_ms,
            settings.queued_max_request_bytes if settings.queued_max_request_bytes > 0
            else UNLIMITED,
        )  # fmt: skip

"""What one server lets its clients take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fencepost_broker.config import Settings
from fencepost_broker.config.network import parse_address_limits
from fencepost_broker.network.queued_bytes import UNLIMITED


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of connections and requests."""

    frame_bytes_max: int = 104_857_600
    connections_max: int = 2**31 - 1
    connections_per_address_max: int = 2**31 - 1
    waiting_requests_max: int = 1000
    """Of one connection, behind one that is parked."""
    parked_requests_max: int = 100_000
    """Of all connections together."""
    answers_bytes_max: int = 65_536
    """Of one connection, before it is read no further."""
    idle_ms_max: int = 600_000
    """Negative is for ever."""
    connections_max_of_address: Mapping[str, int] = field(default_factory=dict)
    """Of single addresses, instead of ``connections_per_address_max``."""
    backlog: int = 1024
    receive_buffer_bytes: int = -1
    send_buffer_bytes: int = -1
    """The system's buffers of a connection; -1 leaves them as they are."""
    login_ms_max: int = 60_000
    """How long a handshake of TLS may take, if that is less than its own limit."""
    queued_bytes_max: int = UNLIMITED
    """Of all connections: requests that are in memory and not carried out."""

    @classmethod
    def from_settings(cls, settings: Settings) -> Limits:
        """Those that a broker's settings ask for."""
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

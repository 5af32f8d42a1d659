"""TLS for listeners: SSL contexts from Kafka's settings, handshakes, and users of certificates.

asyncio does not report failed handshakes. This module does the handshake itself and logs why one
fails: most clients use plain text, or trust other authorities.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.tables.security import names_of
from fencepost_broker.network import pem
from fencepost_broker.network.listeners import bound_sockets
from fencepost_broker.security.authentication.distinguished_names import subject_of
from fencepost_broker.security.authentication.principal_mapping import user_by_rules

if TYPE_CHECKING:
    from fencepost_broker.config import Settings
    from fencepost_broker.network.connection import Connection
    from fencepost_broker.network.connection_quotas import ConnectionQuotas

HANDSHAKE_S_MAX: Final = 10.0
"""A handshake involves no person, so it gets less time than a login."""
PAUSE_S: Final = 1.0
"""The pause after a failed accept, for example with too many open files."""
_SHUTDOWN_S: Final = 2.0
"""The time for a peer to close its side of the TLS connection."""
_VERSIONS: Final = {
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
}
_CLIENTS: Final = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
_LOCATION: Final = "ssl.keystore.location"
_CHAIN: Final = "ssl.keystore.certificate.chain"
_KEY: Final = "ssl.keystore.key"
_TRUSTED_FILE: Final = "ssl.truststore.location"
_TRUSTED: Final = "ssl.truststore.certificates"
_RULES: Final = "ssl.principal.mapping.rules"
_PLAIN: Final = "this is not TLS: the client connects in plain text (security.protocol)"
_REASONS: Final = {
    "WRONG_VERSION_NUMBER": _PLAIN,
    "UNKNOWN_PROTOCOL": _PLAIN,
    "RECORD_LAYER_FAILURE": _PLAIN,
    "BAD_RECORD_TYPE": _PLAIN,
    "HTTP_REQUEST": "this looks like HTTP, but this is the port of a Kafka broker",
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": "the client sent no certificate, but "
    "ssl.client.auth=required (ssl.keystore.location of the client)",
    "CERTIFICATE_VERIFY_FAILED": "this listener does not trust the issuer of the client's "
    "certificate (ssl.truststore.location)",
    "TLSV1_ALERT_UNKNOWN_CA": "the client does not trust the certificate of this listener "
    "(ssl.truststore.location of the client)",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "the client does not accept the certificate of this "
    "listener: does it trust the authority, and is the name in it the one it connects to?",
    "SSLV3_ALERT_BAD_CERTIFICATE": "the client does not accept the certificate of this listener",
    "NO_SHARED_CIPHER": "client and listener have no cipher in common",
    "UNSUPPORTED_PROTOCOL": "the client speaks none of ssl.enabled.protocols",
}
_NOT_TLS: Final = tuple(name for name, told in _REASONS.items() if told is _PLAIN)
_ALERT: Final = b"\x15\x03\x03\x00\x02\x02\x46"
"""The TLS alert "protocol version": clients in plain text see by it that the port needs TLS."""


def server_context(settings: Settings, listener: str) -> ssl.SSLContext:
    """Make a listener's SSL context; a SettingsError says what is wrong with its settings."""
    given = _Given(settings, listener)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _speak(context, settings, listener)
    _show_certificate(context, given)
    context.verify_mode = _CLIENTS[settings.client_auth(listener)]
    if context.verify_mode is not ssl.CERT_NONE:
        _trust(context, given)
    return context


def client_context(settings: Settings, listener: str) -> ssl.SSLContext:
    """Make the SSL context for connecting to other brokers' listeners of this name.

    As in Apache Kafka, it has the truststore and the certificate of this process's own listener. A
    SettingsError says what is wrong with the settings.
    """
    given = _Given(settings, listener)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _speak(context, settings, listener)
    context.check_hostname = given.text("ssl.endpoint.identification.algorithm") is not None
    if given.text("ssl.truststore.location") or given.text("ssl.truststore.certificates"):
        _trust(context, given)
    else:
        context.load_default_certs()
    if given.text("ssl.keystore.location") or given.text("ssl.keystore.certificate.chain"):
        _show_certificate(context, given)
    return context


def not_valid_now(settings: Settings, listener: str, now_ms: int) -> dict[str, str]:
    """Return a listener's certificate that is not valid at this time, and its limit of validity."""
    given = _Given(settings, listener)
    base = _LOCATION if given.text(_LOCATION) else _CHAIN
    dates = pem.validity(_certificates(given, base))
    if dates is None or dates[0].timestamp() * 1000 <= now_ms <= dates[1].timestamp() * 1000:
        return {}
    begin, end = (f"{each:%Y-%m-%dT%H:%M:%SZ}" for each in dates)
    return {"certificate": given.named(base), "valid_from": begin, "valid_until": end}


class _Given(NamedTuple):
    """A listener's settings, with their full names and sources for error messages."""

    settings: Settings
    listener: str

    def text(self, base: str) -> str | None:
        """Return the value; ``None`` if it is missing or empty."""
        value = self.settings.of_listener(base, self.listener)
        return value if isinstance(value, str) and value else None

    def named(self, base: str) -> str:
        """Return the command-line option, or the setting's name and source."""
        own = names_of(base, self.listener, "")
        name = next((each for each in own if self.settings.given(each)), own[0])
        source = self.settings.source(name)
        return source.place if source.place.startswith("--") else f"{name}{source.told}"

    def wrong(self, base: str, reason: str) -> SettingsError:
        """Make the exception to raise."""
        path = f" {self.text(base)}:" if base.endswith("location") and self.text(base) else ""
        return SettingsError([f"{self.named(base)}:{path} {reason}"])


def _speak(context: ssl.SSLContext, settings: Settings, listener: str) -> None:
    versions = settings.of_listener("ssl.enabled.protocols", listener)
    assert isinstance(versions, tuple)
    spoken = [_VERSIONS[each] for each in versions]
    context.minimum_version, context.maximum_version = min(spoken), max(spoken)


def _show_certificate(context: ssl.SSLContext, given: _Given) -> None:
    location, chain, key = given.text(_LOCATION), given.text(_CHAIN), given.text(_KEY)
    if location is not None and (chain or key):
        raise given.wrong(_LOCATION, "and a certificate or a key are given: leave one out")
    if location is None and not (chain and key):
        raise given.wrong(
            _LOCATION,
            "a listener with TLS needs a certificate: set it to a PEM file with the private key "
            "and the certificates (or ssl.keystore.certificate.chain and ssl.keystore.key)",
        )
    of_chain, of_key = (_CHAIN, _KEY) if location is None else (_LOCATION, _LOCATION)
    wrong = pem.load_pair(
        context, _certificates(given, of_chain), _certificates(given, of_key),
        given.text("ssl.key.password"), location,
    )  # fmt: skip
    if wrong is not None:
        raise given.wrong(of_key if wrong.is_key else of_chain, wrong.reason)


def _certificates(given: _Given, base: str) -> str:
    """Return the PEM text of a setting, or of the file that it names."""
    value = given.text(base) or ""
    if not base.endswith("location"):
        return value
    return pem.read(value, f"{given.named(base)}: {value}", lambda told: SettingsError([told]))


def _trust(context: ssl.SSLContext, given: _Given) -> None:
    if not given.text(_TRUSTED_FILE) and not given.text(_TRUSTED):
        raise given.wrong(
            _TRUSTED_FILE,
            "ssl.client.auth needs trusted authorities: set it to a PEM file of their certificates",
        )
    base = _TRUSTED_FILE if given.text(_TRUSTED_FILE) else _TRUSTED
    if reason := pem.trust(context, _certificates(given, base)):
        raise given.wrong(base, f"cannot be used: {reason}")


class TlsListener:
    """Bound sockets that accept TLS connections."""

    def __init__(
        self, sockets: list[socket.socket], make: Callable[[], Connection],
        quotas: ConnectionQuotas, context: Callable[[], ssl.SSLContext], patience_ms: int, log: Any,
    ) -> None:  # fmt: skip
        self.sockets = sockets
        self._make = make
        self._quotas = quotas
        self._context = context
        self._patience_s = min(patience_ms / 1000, HANDSHAKE_S_MAX)
        self._log = log
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def start_serving(self) -> None:
        """Start to accept connections."""
        for sock in self.sockets:
            self._start(self._accept(sock))

    def close(self) -> None:
        """Stop accepting, and cancel current handshakes."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        if not self._tasks:
            self._close_sockets()

    async def ended(self) -> None:
        """Wait until all its tasks have ended."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._close_sockets()

    def _close_sockets(self) -> None:
        for sock in self.sockets:
            sock.close()

    def _start(self, call: Any) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(call)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, sock: socket.socket) -> None:
        """Accept connections until cancelled, whatever errors occur."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                peer, address = await loop.sock_accept(sock)
            except Exception as error:  # noqa: BLE001 (too many open files, say)
                why = getattr(error, "strerror", None) or repr(error)
                self._warn("a connection cannot be accepted", why=why)
                await asyncio.sleep(PAUSE_S)
                continue
            self._start(self._let_in(peer, address))

    def _warn(self, event: str, **told: Any) -> None:
        # With too many open files logging may fail, too: its first line imports modules.
        with suppress(Exception):
            self._log.warning(event, **told)

    async def _let_in(self, peer: socket.socket, address: Any) -> None:
        is_shaking = False
        connection = self._make()
        try:
            if self._quotas.begin_handshake(connection, address[0]):
                is_shaking = True
                await self._shake_hands(connection, peer, address)
        finally:
            self._quotas.end_handshake(connection)
            if not is_shaking:
                peer.close()

    async def _shake_hands(self, connection: Connection, peer: socket.socket, address: Any) -> None:
        loop = asyncio.get_running_loop()
        spare: socket.socket | None = None
        with suppress(OSError):
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # The loop closes its own socket when the handshake fails, so the alert for plain-text
            # clients needs a duplicate. Other clients do not need it.
            spare = peer.dup()
        try:
            await loop.connect_accepted_socket(
                lambda: connection,
                peer,
                ssl=self._context(),
                ssl_handshake_timeout=self._patience_s,
                ssl_shutdown_timeout=_SHUTDOWN_S,
            )
        except OSError as error:
            if not self._is_closed:
                client = f"/{address[0]}:{address[1]}"
                self._warn("a TLS handshake failed", client=client, reason=_why(error))
            if spare is not None and getattr(error, "reason", None) in _NOT_TLS:
                with suppress(OSError):
                    spare.send(_ALERT)
        finally:
            if spare is not None:
                spare.close()


def _why(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        reason = error.reason or ""
        return _REASONS.get(reason) or reason.replace("_", " ").lower() or str(error)
    if isinstance(error, TimeoutError | ConnectionAbortedError):
        return (
            f"the handshake took too long ({HANDSHAKE_S_MAX:.0f} s, or less by "
            "connections.login.timeout.ms)"
        )
    return (
        "the client disconnected in the handshake: it may not trust this listener's certificate, "
        "or not accept the name in it"
    )


async def listen_with_tls(
    host: str, port: int, backlog: int, make: Callable[[], Connection], quotas: ConnectionQuotas,
    context: Callable[[], ssl.SSLContext], patience_ms: int, log: Any,
) -> TlsListener:  # fmt: skip
    """Bind a TLS listener that does not accept yet."""
    sockets = await bound_sockets(host, port, backlog)
    return TlsListener(sockets, make, quotas, context, patience_ms, log)


def name_user(connection: Connection, settings: Settings) -> None:
    """Take the user from the client's certificate, if it sent one; close if no rule names it."""
    transport = connection.transport
    found: Any = None if transport is None else transport.get_extra_info("ssl_object")
    certificate = None if found is None else found.getpeercert(binary_form=True)
    if not certificate:
        return
    name = subject_of(certificate)
    rules = settings.of_listener(_RULES, connection.listener)
    user = user_by_rules(str(rules), name)
    if user is None:
        connection.drop(f"no rule of {_RULES} matches the certificate of {name}")
    else:
        connection.user = user

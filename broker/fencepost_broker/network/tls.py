"""TLS at listeners: contexts made of Kafka's settings, sockets that shake hands, and who came.

asyncio tells nobody of a handshake that fails. Here each is waited for, and the log says what was
wrong with it: most are clients that speak in plain text, or that trust other authorities.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.security import HOW_TO_CONVERT, LISTENER_PREFIX
from fencepost_broker.network.listeners import bound_sockets
from fencepost_broker.security.authentication.distinguished_names import subject_of

if TYPE_CHECKING:
    from fencepost_broker.config import Settings
    from fencepost_broker.network.connection import Connection

HANDSHAKE_S_MAX: Final = 10.0
"""A handshake needs no user, so it gets less time than a login may take."""
PAUSE_S: Final = 1.0
"""Until the next try to accept, where it failed: too many files are open, say."""
_SHUTDOWN_S: Final = 2.0
"""How long a peer may take to say that it, too, has nothing more to send."""
_VERSIONS: Final = {
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
}
_CLIENTS: Final = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
_BLOCK: Final = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_LINE: Final = 64
_PLAIN: Final = "what came is not TLS: the client speaks in plain text (security.protocol)"
_REASONS: Final = {
    "WRONG_VERSION_NUMBER": _PLAIN,
    "UNKNOWN_PROTOCOL": _PLAIN,
    "RECORD_LAYER_FAILURE": _PLAIN,
    "BAD_RECORD_TYPE": _PLAIN,
    "HTTP_REQUEST": "this looks like HTTP: this is the port of a Kafka broker",
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": "the client showed no certificate of its own, and "
    "ssl.client.auth=required (ssl.keystore.location of the client)",
    "CERTIFICATE_VERIFY_FAILED": "the client's certificate is of nobody whom this listener trusts "
    "(ssl.truststore.location)",
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
"""The version is wrong: by this a client that speaks in plain text sees what the port is."""
_STORES: Final = {b"\xfe\xed\xfe\xed": "JKS", b"0\x82": "PKCS12 or DER"}


def server_context(settings: Settings, listener: str) -> ssl.SSLContext:
    """What a listener shows of itself and wants to see; a SettingsError says what is wrong."""
    text = _texts(settings, listener)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _speak(context, settings, listener)
    _show_certificate(context, listener, text)
    context.verify_mode = _CLIENTS[settings.client_auth(listener)]
    if context.verify_mode is not ssl.CERT_NONE:
        _trust(context, listener, text)
    return context


def client_context(settings: Settings, listener: str) -> ssl.SSLContext:
    """How this process goes to such a listener of others; a SettingsError says what is wrong.

    As in Apache Kafka it trusts whom its own listener trusts, and shows the certificate that this
    one has.
    """
    text = _texts(settings, listener)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _speak(context, settings, listener)
    context.check_hostname = text("ssl.endpoint.identification.algorithm") is not None
    if text("ssl.truststore.location") or text("ssl.truststore.certificates"):
        _trust(context, listener, text)
    else:
        context.load_default_certs()
    if text("ssl.keystore.location") or text("ssl.keystore.certificate.chain"):
        _show_certificate(context, listener, text)
    return context


def _texts(settings: Settings, listener: str) -> Callable[[str], str | None]:
    def text(name: str) -> str | None:
        value = settings.of_listener(name, listener)
        return value if isinstance(value, str) and value else None

    return text


def _speak(context: ssl.SSLContext, settings: Settings, listener: str) -> None:
    versions = settings.of_listener("ssl.enabled.protocols", listener)
    assert isinstance(versions, tuple)
    spoken = [_VERSIONS[each] for each in versions]
    context.minimum_version, context.maximum_version = min(spoken), max(spoken)


def _show_certificate(
    context: ssl.SSLContext, listener: str, text: Callable[[str], str | None]
) -> None:
    location, password = text("ssl.keystore.location"), text("ssl.key.password")
    chain, key = text("ssl.keystore.certificate.chain"), text("ssl.keystore.key")
    if location is not None and (chain or key):
        raise _wrong(listener, "ssl.keystore.location", "certificate and key are given as well")
    if location is not None:
        _load(context, listener, "ssl.keystore.location", location, password)
    elif chain and key:
        # OpenSSL reads files alone; nobody else may read this one, and it is gone at once.
        with tempfile.TemporaryDirectory(prefix="fencepost-") as folder:
            path = Path(folder) / "certificate.pem"
            path.write_text(f"{_in_lines(key)}\n{_in_lines(chain)}\n", encoding="utf-8")
            _load(context, listener, "ssl.keystore.certificate.chain", str(path), password)
    else:
        raise _wrong(
            listener,
            "ssl.keystore.location",
            "a listener with TLS needs a certificate: set it to a PEM file with the private key "
            "and the certificates (or ssl.keystore.certificate.chain and ssl.keystore.key)",
        )


def _load(
    context: ssl.SSLContext, listener: str, name: str, path: str, password: str | None
) -> None:
    shown = f" {path}" if name.endswith("location") else ""
    try:
        # Without any password OpenSSL would ask at the terminal.
        context.load_cert_chain(path, password=password or "")
    except ssl.SSLError as error:
        hint = _store_hint(path)
        reason = (error.reason or str(error)).replace("_", " ").lower()
        if not hint and "key values mismatch" in reason:
            hint = "the private key is not that of the first certificate"
        hint = (
            hint or "it has to have a private key (ssl.key.password) and its certificates, in PEM"
        )
        raise _wrong(listener, name, f"{shown} cannot be used ({reason}): {hint}".strip()) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _wrong(listener, name, f"{shown} cannot be read: {reason}".strip()) from None


def _trust(context: ssl.SSLContext, listener: str, text: Callable[[str], str | None]) -> None:
    location, given = text("ssl.truststore.location"), text("ssl.truststore.certificates")
    if location is None and given is None:
        raise _wrong(
            listener,
            "ssl.truststore.location",
            "ssl.client.auth asks for certificates: whose? set it to a PEM file of authorities",
        )
    name = "ssl.truststore.certificates" if location is None else "ssl.truststore.location"
    try:
        if location is not None:
            context.load_verify_locations(location)
        else:
            context.load_verify_locations(cadata=_in_lines(given or ""))
    except (OSError, ValueError) as error:
        shown = "" if location is None else f" {location}"
        reason = getattr(error, "strerror", None) or str(error)
        hint = _store_hint(location) if location is not None else ""
        told = f"{shown} cannot be used: {hint or reason}".strip()
        raise _wrong(listener, name, told) from None


def _store_hint(path: str) -> str:
    """A word on files that are of another format."""
    with suppress(OSError), Path(path).open("rb") as file:
        begins = file.read(4)
        for magic, kind in _STORES.items():
            if begins.startswith(magic):
                return f"it is {kind}, and only PEM is read. {HOW_TO_CONVERT}"
    return ""


def _in_lines(text: str) -> str:
    """PEM as OpenSSL wants it, where all stands in one line, as in properties."""

    def block(match: re.Match[str]) -> str:
        kind, content = match[1], match[2]
        if ":" in content:
            return match[0]  # it has headers
        letters = "".join(content.split())
        lines = [letters[at : at + _LINE] for at in range(0, len(letters), _LINE)]
        return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""])

    return _BLOCK.sub(block, text)


def _wrong(listener: str, name: str, reason: str) -> SettingsError:
    return SettingsError([f"{LISTENER_PREFIX}{listener.lower()}.{name}: {reason}"])


class Doors(Protocol):
    """Who counts connections from the moment they are accepted."""

    def arrives(self, connection: Connection, host: str) -> bool:
        """Whether one more may shake hands; it is counted until it is opened, or has gone."""

    def has_gone(self, connection: Connection) -> None:
        """It shakes hands no more, whatever came of it."""


class TlsListener:
    """Sockets that are bound, and accept what shakes hands with them."""

    def __init__(
        self, sockets: list[socket.socket], make: Callable[[], Connection], doors: Doors,
        context: ssl.SSLContext, patience_ms: int, log: Any,
    ) -> None:  # fmt: skip
        self.sockets = sockets
        self._make = make
        self._doors = doors
        self._context = context
        self._patience_s = min(patience_ms / 1000, HANDSHAKE_S_MAX)
        self._log = log
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def start_serving(self) -> None:
        """Accept from now on."""
        for sock in self.sockets:
            self._start(self._accept(sock))

    def close(self) -> None:
        """Accept no more; handshakes that are under way end."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        if not self._tasks:
            self._close_sockets()

    async def ended(self) -> None:
        """Wait until nothing of it is left."""
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
        """Never ends by itself, whatever happens: nobody else would accept here."""
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
        # Where no more files can be opened the log may fail, too: its first line imports modules.
        with suppress(Exception):
            self._log.warning(event, **told)

    async def _let_in(self, peer: socket.socket, address: Any) -> None:
        is_shaking = False
        connection = self._make()
        try:
            if self._doors.arrives(connection, address[0]):
                is_shaking = True
                await self._shake_hands(connection, peer, address)
        finally:
            self._doors.has_gone(connection)
            if not is_shaking:
                peer.close()

    async def _shake_hands(self, connection: Connection, peer: socket.socket, address: Any) -> None:
        loop = asyncio.get_running_loop()
        spare: socket.socket | None = None
        with suppress(OSError):
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # The loop closes its own when the handshake fails. Without it a client that speaks in
            # plain text is not told so, and others lack nothing.
            spare = peer.dup()
        try:
            await loop.connect_accepted_socket(
                lambda: connection,
                peer,
                ssl=self._context,
                ssl_handshake_timeout=self._patience_s,
                ssl_shutdown_timeout=_SHUTDOWN_S,
            )
        except OSError as error:
            if not self._is_closed:
                client = f"/{address[0]}:{address[1]}"
                self._warn("no TLS with a client", client=client, reason=_why(error))
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
        "the client went away in the handshake: it may not trust this listener's certificate, or "
        "not accept the name in it"
    )


async def listen_with_tls(
    host: str, port: int, backlog: int, make: Callable[[], Connection], doors: Doors,
    context: ssl.SSLContext, patience_ms: int, log: Any,
) -> TlsListener:  # fmt: skip
    """A listener that is bound and does not accept yet."""
    sockets = await bound_sockets(host, port, backlog)
    return TlsListener(sockets, make, doors, context, patience_ms, log)


def user_of(transport: asyncio.BaseTransport | None) -> str | None:
    """The name in the client's certificate, if it showed one."""
    found: Any = None if transport is None else transport.get_extra_info("ssl_object")
    certificate = None if found is None else found.getpeercert(binary_form=True)
    return subject_of(certificate) if certificate else None

"""A broker's certificate expires while clients are connected.

TLS looks at a certificate in the handshake only. So the scenario puts an end of TLS in front of the
broker, which shows a certificate that is valid, and then one that has expired.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Final, Self

from fencepost_broker.network import pem
from fencepost_broker.server.proxy.local_ports import LocalPorts
from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import Connection

AUTHORITY: Final = """\
-----BEGIN CERTIFICATE-----
MIIBcDCCARWgAwIBAgIBATAKBggqhkjOPQQDAjAeMRwwGgYDVQQDDBNGZW5jZXBv
c3Qgc2NlbmFyaW9zMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAe
MRwwGgYDVQQDDBNGZW5jZXBvc3Qgc2NlbmFyaW9zMFkwEwYHKoZIzj0CAQYIKoZI
zj0DAQcDQgAEuW0HmMXI0+0hRCS9lNvf/erRZGDfcIQEq53Oz1bJOrO0tq4QVPxQ
IHnUHAafz+2plrjQ3YQjWRFuSe6P6IXdQKNCMEAwDwYDVR0TAQH/BAUwAwEB/zAO
BgNVHQ8BAf8EBAMCAgQwHQYDVR0OBBYEFE72iBABh+kYfhmeLuGiC97kzLctMAoG
CCqGSM49BAMCA0kAMEYCIQDnOSmw7/6jiBr+0s7CATk6Iwx2l2KkH8eS++rwI/ti
PQIhAP3HdXhNwSPzAqG+0IbTiuGjH7K8ACbgxdJxVYDqtXol
-----END CERTIFICATE-----
"""
_VALID: Final = """\
-----BEGIN CERTIFICATE-----
MIIBljCCATygAwIBAgIBAjAKBggqhkjOPQQDAjAeMRwwGgYDVQQDDBNGZW5jZXBv
c3Qgc2NlbmFyaW9zMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAU
MRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARB
0NlIIOvl0PgOdQ5C/V+ocZ2AJAX3nNobScy4Uwnv1c2FqGCQpZ7ibkERaR+tgoxR
ecj/OCiwcRIOs8Sv5C92o3MwcTAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEw
HwYDVR0jBBgwFoAUTvaIEAGH6Rh+GZ4u4aIL3uTMty0wEwYDVR0lBAwwCgYIKwYB
BQUHAwEwHQYDVR0OBBYEFBWRyh16TD9+R/pGxEIPbaahpGndMAoGCCqGSM49BAMC
A0gAMEUCIA1VXb2hEPO3CxaS7E/bX6dIlPxzs9a0iNJ3IdTzswIJAiEAqudY5pTD
Je+wezfB3BkKlgntzcXPWQpWmkvU+E544mM=
-----END CERTIFICATE-----
"""
"""For localhost and 127.0.0.1, until 2120."""
_EXPIRED: Final = """\
-----BEGIN CERTIFICATE-----
MIIBlDCCATqgAwIBAgIBAzAKBggqhkjOPQQDAjAeMRwwGgYDVQQDDBNGZW5jZXBv
c3Qgc2NlbmFyaW9zMB4XDTIwMDEwMTAwMDAwMFoXDTIxMDEwMTAwMDAwMFowFDES
MBAGA1UEAwwJbG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEQdDZ
SCDr5dD4DnUOQv1fqHGdgCQF95zaG0nMuFMJ79XNhahgkKWe4m5BEWkfrYKMUXnI
/zgosHESDrPEr+QvdqNzMHEwGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMB8G
A1UdIwQYMBaAFE72iBABh+kYfhmeLuGiC97kzLctMBMGA1UdJQQMMAoGCCsGAQUF
BwMBMB0GA1UdDgQWBBQVkcodekw/fkf6RsRCD22moaRp3TAKBggqhkjOPQQDAgNI
ADBFAiEAvdPkg2O6sDnu2Z+N6DgR8hrJcvANJKviZ5yxGZcbg14CIFdXgNfBjdGC
sR67dUvpuhSYiM9CvS1SfX08XF7Glg61
-----END CERTIFICATE-----
"""
"""The same until 2021."""
_KEY: Final = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgI5pR4PWhR3xmT1De
Jp8jPW4NrVOLTdeG5zT1XrMz9MChRANCAARB0NlIIOvl0PgOdQ5C/V+ocZ2AJAX3
nNobScy4Uwnv1c2FqGCQpZ7ibkERaR+tgoxRecj/OCiwcRIOs8Sv5C92
-----END PRIVATE KEY-----
"""
"""The key of both certificates, whose authority only the clients of this scenario trust."""


class TlsEnd(LocalPorts):
    """TLS in front of a broker, with a certificate that can expire."""

    def __init__(self, broker: AnyBroker) -> None:
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.renew()
        super().__init__(broker.bootstrap, to_clients=self._tls, log_level="error")

    def expire(self) -> None:
        """Show an expired certificate in handshakes from now on; connections stay."""
        self._show(_EXPIRED)

    def renew(self) -> None:
        """Show a valid certificate from now on."""
        self._show(_VALID)

    def _show(self, certificate: str) -> None:
        pem.load_pair(self._tls, certificate, _KEY, None, None)


class _SecureConnection(Connection):
    """A connection to the end of TLS, which trusts the scenario's authority."""

    def __init__(self, broker: AnyBroker, end: TlsEnd) -> None:
        super().__init__(broker)
        self._end = end

    async def __aenter__(self) -> Self:
        host, _, port = self._end.bootstrap.rpartition(":")
        trusting = ssl.create_default_context(cadata=AUTHORITY)
        self._streams = await asyncio.open_connection(host, int(port), ssl=trusting)
        return self


async def _run(broker: AnyBroker, tell: Tell) -> Facts:
    async with TlsEnd(broker) as end:
        return await _at(broker, end, tell)


async def _at(broker: AnyBroker, end: TlsEnd, tell: Tell) -> Facts:
    async with _SecureConnection(broker, end) as connection:
        await connection.produce(b"before")
        end.expire()
        tell("A producer is connected with TLS and sends a record; then the certificate expires.")
        connected = await connection.produce(b"connected")
        tell(f"It sends another record on its connection: {connected}.")
        refused = await _connect(broker, end)
        tell(f"A second client connects, or the first one has to do so again: {refused}.")
    end.renew()
    renewed = await _connect(broker, end)
    tell(f"The broker gets a new certificate, and clients connect: {renewed}.")
    return {"connected_client": connected, "new_connection": refused, "after_renewal": renewed}


async def _connect(broker: AnyBroker, end: TlsEnd) -> str:
    try:
        async with _SecureConnection(broker, end) as connection:
            return await connection.produce(b"new")
    except ssl.SSLCertVerificationError as error:
        return str(error.verify_message)


SCENARIO = Scenario(
    name="expired-certificate",
    summary="A broker's certificate expires while clients are connected",
    seen="Nothing at first. Then clients fail one by one, as each has to connect again: after"
    " connections.max.idle.ms, a restart, or a change of leaders.",
    clients="All that use TLS and check certificates. Java's throw SslAuthenticationException;"
    " others retry, and tell why in their logs or to an error callback.",
    remedy="Watch the dates of certificates, and renew them in time: Apache Kafka takes a new"
    " keystore while it runs (KIP-226), Fencepost when it starts.",
    kip="KIP-226",
    run=_run,
)

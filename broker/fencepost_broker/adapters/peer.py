"""One blocking connection to a broker, for commands that ask a few questions and end.

Versions are what both sides have in common, by the broker's ApiVersions. Whatever goes wrong is a
``PeerError`` whose text says where, what, and what to look at.
"""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from typing import Any, Final

from fencepost_client.procedures import Ask
from fencepost_protocol.apis import Api, Message, response_class
from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.framing import api_key_of, encode_request, read_response_head
from fencepost_protocol.generated.api_versions import ApiVersionsRequest

CLIENT_ID: Final = "fencepost-admin"
_ANSWER_BYTES_MAX: Final = 256 << 20
_PIECE_BYTES: Final = 1 << 20
_NO_SUCH_HOST: Final = "there is no such host, or its name cannot be looked up"
_NOT_KAFKA: Final = "is it a broker's listener, and one without TLS and SASL?"


class PeerError(Exception):
    """A broker cannot be asked, or refuses; the text is for a person."""


def written(host: str, port: int) -> str:
    """``host:port``, as people write it."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Peer:
    """A connection; it waits for each answer before the next question."""

    def __init__(self, host: str, port: int, patience_s: float) -> None:
        self.name = written(host, port)
        self._patience_s = patience_s
        self._correlation_id = 0
        try:
            self._socket = socket.create_connection((host, port), patience_s)
        except socket.gaierror:
            raise PeerError(f"{self.name}: {_NO_SUCH_HOST}") from None
        except UnicodeError:
            raise PeerError(f"{self.name}: that cannot be the name of a host") from None
        except ConnectionRefusedError:
            raise PeerError(
                f"{self.name}: nobody listens there; is the broker running, and is this its port?"
            ) from None
        except TimeoutError:
            raise PeerError(f"{self.name}: no connection within {patience_s:g} s") from None
        except OSError as error:
            raise PeerError(f"{self.name}: {error.strerror or error}") from error
        try:
            self._versions = self._served()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Hang up."""
        with suppress(OSError):
            self._socket.close()

    def ask(self, ask: Ask) -> Any:
        """The answer to a request, in the newest version that both sides speak."""
        version = self._version_of(ask)
        return self._exchange(ask.build(version), version)

    def _version_of(self, ask: Ask) -> int:
        key = ask.api_key
        api = Api.of(key)
        assert api is not None
        if key not in self._versions:
            raise PeerError(f"{self.name}: this broker does not serve {api.name}")
        low, high = self._versions[key]
        ours = api.advertised[1] if ask.version_max is None else ask.version_max
        version = min(high, ours)
        if version < max(low, api.min_version):
            raise PeerError(
                f"{self.name}: this broker serves {api.name} in versions {low} to {high} only,"
                f" Fencepost speaks {api.min_version} to {ours}"
            )
        return version

    def _served(self) -> dict[int, tuple[int, int]]:
        answer = self._exchange(ApiVersionsRequest(), 0)  # the one that every broker answers
        return {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}

    def _exchange(self, request: Message, version: int) -> Any:
        self._correlation_id += 1
        key = api_key_of(request)
        try:
            self._socket.sendall(encode_request(request, version, self._correlation_id, CLIENT_ID))
            frame = self._frame()
            correlation_id, start = read_response_head(frame, key, version)
            if correlation_id != self._correlation_id:
                raise PeerError(f"{self.name} answers something that was not asked; {_NOT_KAFKA}")
            return response_class(key).decode(frame, version, start)[0]
        except TimeoutError:
            raise PeerError(
                f"{self.name} has not answered within {self._patience_s:g} s; {_NOT_KAFKA}"
            ) from None
        except OSError as error:
            raise PeerError(f"{self.name}: {error.strerror or error}; {_NOT_KAFKA}") from error
        except ProtocolError as error:
            raise PeerError(f"{self.name} answers what Kafka would not: {error}") from error

    def _frame(self) -> memoryview:
        (size,) = struct.unpack(">i", self._read(4))
        if not 4 <= size <= _ANSWER_BYTES_MAX:
            raise PeerError(f"{self.name} does not speak Kafka's protocol; {_NOT_KAFKA}")
        return memoryview(self._read(size))

    def _read(self, size: int) -> bytearray:
        """Exactly so many bytes; room is made as they arrive, whatever was announced."""
        data = bytearray()
        while len(data) < size:
            piece = self._socket.recv(min(size - len(data), _PIECE_BYTES))
            if not piece:
                raise PeerError(f"{self.name} closes the connection; {_NOT_KAFKA}")
            data += piece
        return data

"""Connections to the target of a replay: frames out, frames in."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import suppress
from typing import Any, Final

from fencepost_protocol.apis import request_class, response_class
from fencepost_protocol.framing import (
    SIZE_BYTES,
    api_key_of,
    encode_request,
    read_response_head,
)
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.index import ApiKey

from fencepost_client.errors import AuthenticationError, NetworkError
from fencepost_client.network.security import Security
from fencepost_client.requests.connection import RESPONSE_BYTES_MAX
from fencepost_client.requests.sasl import authenticate

_CLIENT_ID: Final = "fencepost-replay"


class TargetConnection:
    """A connection to a broker of the target."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, timeout_s: float
    ) -> None:
        self._reader, self._writer, self._timeout_s = reader, writer, timeout_s
        self._numbers = itertools.count(1)
        self.why_lost = ""
        """Why requests cannot be sent any more."""

    def send(self, frame: bytearray | bytes) -> int:
        """Send a request, without its size, and return the correlation id that it gets."""
        number = next(self._numbers)
        out = bytearray(len(frame).to_bytes(SIZE_BYTES)) + frame
        if len(frame) >= SIZE_BYTES + SIZE_BYTES:
            out[8:12] = number.to_bytes(4)
        self._writer.write(out)
        return number

    async def receive(self) -> tuple[int, memoryview] | None:
        """Return the next answer with its correlation id; ``None`` if there is none any more."""
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._writer.drain()
                size = int.from_bytes(await self._reader.readexactly(SIZE_BYTES), signed=True)
                if SIZE_BYTES <= size <= RESPONSE_BYTES_MAX:
                    frame = memoryview(await self._reader.readexactly(size))
                    return int.from_bytes(frame[:SIZE_BYTES], signed=True), frame
                self.why_lost = f"an answer of {size} bytes was announced"
        except TimeoutError:
            self.why_lost = f"no answer within {self._timeout_s:g} s"
        except EOFError:
            self.why_lost = "the connection was closed"
        except OSError as error:
            self.why_lost = str(error)
        return None

    async def ask(self, request: Any, version: int) -> Any:
        """Send a request of the replay's own, and return its answer."""
        frame = encode_request(request, version, 0, _CLIENT_ID)
        self.send(frame[SIZE_BYTES:])
        answer = await self.receive()
        if answer is None:
            raise NetworkError(f"The target does not answer: {self.why_lost}.")
        api_key = api_key_of(request)
        body = read_response_head(answer[1], api_key, version)[1]
        return response_class(api_key).decode(answer[1], version, body)[0]

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()


class Target:
    """The broker that requests are sent to again."""

    def __init__(self, security: Security, timeout_s: float) -> None:
        self._security, self._timeout_s = security, timeout_s
        self._versions: dict[int, tuple[int, int]] = {}

    async def connect(self, host: str, port: int) -> TargetConnection:
        """Connect, and log in if there is a login; raises ``KafkaError``."""
        peer, context = f"{host}:{port}", self._security.context
        try:
            async with asyncio.timeout(self._timeout_s):
                reader, writer = await asyncio.open_connection(
                    host, port, ssl=context, server_hostname=host if context else None
                )
        except (OSError, TimeoutError) as error:
            raise NetworkError(f"No connection to {peer}: {error or 'no answer'}.") from error
        connection = TargetConnection(reader, writer, self._timeout_s)
        try:
            if not self._versions:
                answer = await connection.ask(ApiVersionsRequest(), 0)
                self._versions = {
                    each.api_key: (each.min_version, each.max_version) for each in answer.api_keys
                }
            await self._log_in(connection, peer)
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _log_in(self, connection: TargetConnection, peer: str) -> None:
        if self._security.login is None:
            return
        steps = authenticate(self._security.login, peer, self._newest, self._versions)
        request = next(steps)
        while True:
            try:
                request = steps.send(await connection.ask(*request))
            except StopIteration:
                return

    def _newest(self, api_key: int) -> int:
        if api_key not in self._versions:
            raise AuthenticationError("The target has no logins by SASL.")
        return min(self._versions[api_key][1], request_class(api_key).MAX_VERSION)

    def serves(self, api_key: int, version: int) -> bool:
        """Return whether the target serves this version; ApiVersions answers any."""
        if api_key == ApiKey.API_VERSIONS:
            return True
        low, high = self._versions.get(api_key, (0, -1))
        return low <= version <= high

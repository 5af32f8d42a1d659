"""``python -m tests.bench.broker.empty_loop BYTES``: what a server costs that does nothing.

It answers every frame with so many zeros, but for their size and the frame's correlation id. What
that takes is what the loop and the kernel take: no broker that is written for this loop can be
cheaper. Prints its port and runs until it is killed.
"""

from __future__ import annotations

import asyncio
import struct
import sys
from typing import Final, cast

import uvloop

_SIZE: Final = struct.Struct(">i")
_CORRELATION_AT: Final = 8
"""In a request with its size in front; in an answer it is at 4."""
_BUFFER: Final = bytearray(1 << 18)


class Parrot(asyncio.BufferedProtocol):
    """One connection, whose frames come whole (they are small)."""

    def __init__(self, answer: bytes) -> None:
        self._answer = bytearray(answer)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        self._transport = cast("asyncio.Transport", transport)

    def get_buffer(self, sizehint: int) -> bytearray:
        """Called by the loop."""
        del sizehint
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        """Called by the loop."""
        assert self._transport is not None
        pos = 0
        answers = []
        while pos < nbytes:
            answer = self._answer.copy()
            answer[4:8] = _BUFFER[pos + _CORRELATION_AT : pos + _CORRELATION_AT + 4]
            answers.append(answer)
            pos += 4 + _SIZE.unpack_from(_BUFFER, pos)[0]
        assert pos == nbytes, "a frame came in pieces"
        if len(answers) == 1:
            self._transport.write(answers[0])
        else:
            self._transport.writelines(answers)


async def main() -> None:
    """Serve."""
    size = int(sys.argv[1])
    answer = _SIZE.pack(size - 4) + bytes(size - 4)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Parrot(answer), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())

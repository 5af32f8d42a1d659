"""Frames over a real socket, however the network cuts them."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from fencepost_protocol.framing import (
    FrameSplitter,
    encode_request,
    encode_response,
    read_request_head,
    read_response_head,
)
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnResponse

pytestmark = pytest.mark.asyncio


class Answering(asyncio.Protocol):
    """Answers each EndTxn with its producer id, in order."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is none by inheritance
        self.splitter = FrameSplitter(1 << 20)

    def data_received(self, data: bytes) -> None:
        for frame in self.splitter.receive(data):
            _, version, correlation_id, _, body = read_request_head(frame)
            request, end = EndTxnRequest.decode(frame, version, body)
            assert end == len(frame)
            response = EndTxnResponse(producer_id=request.producer_id)
            self.transport.write(encode_response(response, version, correlation_id))


@pytest.mark.parametrize("step", [1, 3, 7, 10_000])
async def test_pipelined_requests_are_answered_in_order(step: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Answering, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    stream = b"".join(
        encode_request(EndTxnRequest("txn", number, 0, True), 5, number) for number in range(20)
    )
    for at in range(0, len(stream), step):
        writer.write(stream[at : at + step])
        await writer.drain()
    splitter = FrameSplitter(1 << 20)
    answered: list[int] = []
    while len(answered) < 20:
        data = await reader.read(100)
        assert data, "the server closed the connection"
        for frame in splitter.receive(data):
            correlation_id, body = read_response_head(frame, 26, 5)
            response, _ = EndTxnResponse.decode(frame, 5, body)
            assert response.producer_id == correlation_id
            answered.append(correlation_id)
    assert answered == list(range(20))
    writer.close()
    await writer.wait_closed()
    server.close()
    await server.wait_closed()

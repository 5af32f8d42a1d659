"""Keeping the frame of a Produce that is answered later, since the next one takes its place."""

from __future__ import annotations

from fencepost_protocol.generated.produce import ProduceRequest

from fencepost_broker.apis.produce.repeated_partitions import each_once
from fencepost_broker.apis.request import Request


def keep_frame(request: Request) -> None:
    """Give the request a copy of its frame, because it is decoded again after the wait."""
    if not request.has_own_frame:
        request.frame = memoryview(bytearray(request.frame))


def read_again(request: Request, message: ProduceRequest) -> ProduceRequest:
    """Decode the message again from the frame that was kept."""
    if request.has_own_frame:
        return message
    again = ProduceRequest.decode(request.frame, request.version, request.body)[0]
    again.topic_data = each_once(again.topic_data)
    return again


def keep_message(request: Request, message: ProduceRequest) -> ProduceRequest:
    """Copy the request's frame, and decode the message from the copy."""
    keep_frame(request)
    return read_again(request, message)

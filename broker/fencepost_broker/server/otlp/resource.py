"""What all messages say about the broker that sends them."""

from __future__ import annotations

from typing import Final

from fencepost_protocol import __version__
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

SCOPE: Final = InstrumentationScope(name="fencepost", version=__version__)


def attribute(name: str, value: str | int | list[str]) -> KeyValue:
    """Return an attribute."""
    made = AnyValue()
    if isinstance(value, str):
        made.string_value = value
    elif isinstance(value, int):
        made.int_value = value
    else:
        made.array_value.values.extend(AnyValue(string_value=each) for each in value)
    return KeyValue(key=name, value=made)


def resource_of(node_id: int) -> Resource:
    """Return the resource that a broker is; Prometheus makes its job and its instance of it."""
    return Resource(
        attributes=[
            attribute("service.name", "fencepost"),
            attribute("service.version", __version__),
            attribute("service.instance.id", str(node_id)),
        ]
    )

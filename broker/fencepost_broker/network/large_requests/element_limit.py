"""The number of elements of a request that is one decision.

Such a request is decided in one turn of the loop, so other clients wait for as long as it takes.
Apache Kafka's controller refuses more than 10,000 records of one request (POLICY_VIOLATION), and a
group of Kafka's keeps no member whose record does not fit into a batch. Here the limit applies to
the elements of large requests, which the thread that has decoded the request counts. Smaller frames
are not counted: 256 KB of a frequent request are decided in about 50 ms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.cutting import unless_in_transaction
from fencepost_broker.apis.error_responses import refused
from fencepost_broker.apis.served import Served


def refused_as_too_long(api: Served, message: Any, version: int) -> Message | None:
    """The response to a request that is too long for one decision; ``None`` if it is not."""
    if api.longest is None or (
        api.key is ApiKey.PRODUCE and unless_in_transaction(message, version)
    ):
        return None
    code, names, most = api.longest
    for name in names:
        count = _count(message, name.split("."))
        if count > most:
            words = f"one request may have {most} {name}, and this one has {count}: split it"
            return refused(api, message, version, code, words)
    return None


def _count(message: Any, names: Sequence[str]) -> int:
    elements = getattr(message, names[0]) or ()
    if len(names) == 1:
        return len(elements)
    return sum(max(1, _count(each, names[1:])) for each in elements)

"""The limit on the elements of a request that is decided as a whole.

Such a request is decided in one turn of the loop, so other clients wait until it is done. Apache
Kafka's controller refuses more than 10,000 records of one request (POLICY_VIOLATION), and Kafka's
groups keep no member whose record does not fit into a batch. Here the limit applies to the elements
of large requests; the thread that decodes the request counts them. Smaller frames are not counted:
256 KB of a frequent request are decided in about 50 ms.
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
    """Return the error response to a request with too many elements, else ``None``."""
    if api.longest is None or (
        api.key is ApiKey.PRODUCE and unless_in_transaction(message, version)
    ):
        return None
    code, names, most = api.longest
    for name in names:
        count = _count(message, name.split("."))
        if count > most:
            words = f"one request may have {most} {name}, but this one has {count}: split it"
            return refused(api, message, version, code, words)
    return None


def _count(message: Any, names: Sequence[str]) -> int:
    elements = getattr(message, names[0]) or ()
    if len(names) == 1:
        return len(elements)
    return sum(max(1, _count(each, names[1:])) for each in elements)

"""What consumers tell the group's leader, as far as the broker must understand it.

The metadata of a ``consumer`` group's member is the clients' own affair: an int16 version and a
ConsumerProtocolSubscription. Version 0, the topics, is how every later version begins.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)

_INT16: Final = struct.Struct(">h")


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """The topics in all of these subscriptions; None when one of them is something else."""
    found: set[str] = set()
    try:
        for each in metadata:
            if _INT16.unpack_from(each)[0] < 0:
                return None
            subscription, _ = ConsumerProtocolSubscription.decode(memoryview(each), 0, _INT16.size)
            found.update(subscription.topics)
    except (RemoteProtocolError, struct.error):
        return None
    return frozenset(found)

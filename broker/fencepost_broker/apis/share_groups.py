"""The APIs of share groups (KIP-932): they are served all together, or none of them."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.cutting import WHOLE
from fencepost_broker.apis.request import encode_with_records
from fencepost_broker.apis.served import Later, Served

SHARE_GROUPS_ARE_SERVED: Final[bool] = False
"""Whether ApiVersions lists them: not before ShareFetch and ShareAcknowledge are among them."""

SHARE_APIS: Final = (
    Served(
        ApiKey.SHARE_FETCH,
        Later("share.share_fetch", "share_fetch"),
        rights="checks:MEMBER",
        large=WHOLE,
        encode=encode_with_records,
    ),
    Served(
        ApiKey.SHARE_ACKNOWLEDGE,
        Later("share.share_acknowledge", "share_acknowledge"),
        rights="checks:MEMBER",
        large=WHOLE,
    ),
    *(
        Served(
            key,
            Later("groups.share_state", "share_group_state"),
            rights="whole:everybody",
            large=WHOLE,
        )
        for key in (
            ApiKey.INITIALIZE_SHARE_GROUP_STATE,
            ApiKey.READ_SHARE_GROUP_STATE,
            ApiKey.WRITE_SHARE_GROUP_STATE,
            ApiKey.DELETE_SHARE_GROUP_STATE,
            ApiKey.READ_SHARE_GROUP_STATE_SUMMARY,
        )
    ),
)

"""The APIs of share groups (KIP-932) and streams groups (KIP-1071): a part of ``registry``."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.cutting import WHOLE, Cut
from fencepost_broker.apis.request import encode_with_records
from fencepost_broker.apis.served import Later, Longest, Served

SHARE_AND_STREAMS_APIS: Final = (
    Served(
        ApiKey.SHARE_GROUP_HEARTBEAT,
        Later("groups.share_groups", "share_group_heartbeat"),
        rights="share_groups:share_group_heartbeat",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("subscribed_topic_names",)),
    ),
    Served(
        ApiKey.SHARE_GROUP_DESCRIBE,
        Later("groups.share_groups", "share_group_describe"),
        rights="share_groups:share_group_describe",
        large=Cut("group_ids"),
    ),
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
            rights="share_groups:share_group_state",
            large=WHOLE,
            longest=Longest(ErrorCode.INVALID_REQUEST, ("topics.partitions",)),
        )
        for key in (
            ApiKey.INITIALIZE_SHARE_GROUP_STATE,
            ApiKey.READ_SHARE_GROUP_STATE,
            ApiKey.WRITE_SHARE_GROUP_STATE,
            ApiKey.DELETE_SHARE_GROUP_STATE,
            ApiKey.READ_SHARE_GROUP_STATE_SUMMARY,
        )
    ),
    Served(
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        Later("groups.share_offsets", "describe_share_group_offsets"),
        rights="share_groups:describe_share_group_offsets",
        large=Cut("groups"),
        longest=Longest(ErrorCode.INVALID_REQUEST, ("groups.topics.partitions",)),
    ),
    Served(
        ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        Later("groups.share_groups", "alter_share_group_offsets"),
        rights="share_groups:alter_share_group_offsets",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("topics.partitions",)),
    ),
    Served(
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
        Later("groups.share_groups", "delete_share_group_offsets"),
        rights="share_groups:delete_share_group_offsets",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("topics",)),
    ),
    Served(
        ApiKey.STREAMS_GROUP_HEARTBEAT,
        Later("groups.streams_groups", "streams_group_heartbeat"),
        rights="streams_groups:streams_group_heartbeat",
        large=WHOLE,
        longest=Longest(
            ErrorCode.INVALID_REQUEST, ("active_tasks.partitions", "standby_tasks.partitions")
        ),
    ),
    Served(
        ApiKey.STREAMS_GROUP_DESCRIBE,
        Later("groups.streams_groups", "streams_group_describe"),
        rights="streams_groups:streams_group_describe",
        large=Cut("group_ids"),
    ),
)

"""The APIs of the controllers' quorum (KIP-595, KIP-853): a part of the table in ``registry``."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.cutting import WHOLE
from fencepost_broker.apis.served import Later, Longest, Served

QUORUM_APIS: Final = (
    Served(
        ApiKey.DESCRIBE_QUORUM,
        Later("controller.quorum", "describe_quorum"),
        rights="checks:DESCRIBE_CLUSTER",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("topics.partitions",)),
        by_controller=True,
    ),
    Served(
        ApiKey.ADD_RAFT_VOTER,
        Later("controller.raft_voters", "add_raft_voter"),
        rights="checks:ALTER_CLUSTER",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("listeners",)),
        by_controller=True,
    ),
    Served(
        ApiKey.REMOVE_RAFT_VOTER,
        Later("controller.raft_voters", "remove_raft_voter"),
        rights="checks:ALTER_CLUSTER",
        by_controller=True,
    ),
)

"""AddRaftVoter, RemoveRaftVoter and UpdateRaftVoter: changes of the controllers' quorum (KIP-853).

Behaviour: there is one voter, the controller, and ``kraft.version`` is 0, so the quorum cannot
change. Requests are checked as by an Apache Kafka with ``controller.quorum.voters``, and what
passes the checks gets UNSUPPORTED_VERSION. Brokers forward AddRaftVoter and RemoveRaftVoter.

Voters send UpdateRaftVoter about themselves to the leader, and here there is no other voter:
VOTER_NOT_FOUND. The leader's own id gets INVALID_REQUEST; Apache Kafka 4.3.1 ends its process then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_raft_voter import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    Listener,
)
from fencepost_protocol.generated.remove_raft_voter import (
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)
from fencepost_protocol.generated.update_raft_voter import CurrentLeader as Leader
from fencepost_protocol.generated.update_raft_voter import Listener as UpdatedListener
from fencepost_protocol.generated.update_raft_voter import (
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.metadata.log.metadata_log import LEADER_EPOCH

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext

_DEFAULT_LISTENER: Final = "CONTROLLER"
_STATIC: Final = "the quorum cannot change: it has one voter, and kraft.version is 0"


def add_raft_voter(
    context: HandlerContext, _request: Request, message: AddRaftVoterRequest
) -> Answer:
    """Answer AddRaftVoter, versions 0 and 1."""
    code, text = _refusal(context, message)
    if code is ErrorCode.UNSUPPORTED_VERSION and not _is_reachable(context, message.listeners):
        code = ErrorCode.INVALID_REQUEST
        text = f"voters reach each other by listener {_listener(context)}: its address is missing"
    return AddRaftVoterResponse(error_code=code, error_message=text)


def remove_raft_voter(
    context: HandlerContext, _request: Request, message: RemoveRaftVoterRequest
) -> Answer:
    """Answer RemoveRaftVoter, version 0."""
    code, text = _refusal(context, message)
    return RemoveRaftVoterResponse(error_code=code, error_message=text)


def update_raft_voter(
    context: HandlerContext, request: Request, message: UpdateRaftVoterRequest
) -> Answer:
    """Answer UpdateRaftVoter, version 0."""
    leader = Leader(context.identity.node_id, LEADER_EPOCH)
    for each in context.controller_addresses:
        if each.listener == request.peer.listener:
            leader.host, leader.port = each.host, each.port
    return UpdateRaftVoterResponse(error_code=_code(context, message), current_leader=leader)


def _code(context: HandlerContext, message: UpdateRaftVoterRequest) -> ErrorCode:
    levels, epoch = message.kraft_version_feature, message.current_leader_epoch
    if not _is_of_cluster(context, message.cluster_id):
        return ErrorCode.INCONSISTENT_CLUSTER_ID
    if epoch != LEADER_EPOCH:
        is_old = epoch < LEADER_EPOCH
        return ErrorCode.FENCED_LEADER_EPOCH if is_old else ErrorCode.UNKNOWN_LEADER_EPOCH
    has_level_0 = levels.min_supported_version == 0 <= levels.max_supported_version
    is_whole = _is_voter_key(message.voter_id, message.voter_directory_id)
    is_own = message.voter_id == context.identity.node_id
    if is_own or not (is_whole and has_level_0 and _is_reachable(context, message.listeners)):
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.VOTER_NOT_FOUND


def _refusal(
    context: HandlerContext, message: AddRaftVoterRequest | RemoveRaftVoterRequest
) -> tuple[ErrorCode, str]:
    if not _is_of_cluster(context, message.cluster_id):
        own = context.identity.cluster_id
        text = f"this is cluster {own}, and not {message.cluster_id}"
        return ErrorCode.INCONSISTENT_CLUSTER_ID, text
    if not _is_voter_key(message.voter_id, message.voter_directory_id):
        text = "a voter has a node id of at least 0, and the id of its directory, which is not zero"
        return ErrorCode.INVALID_REQUEST, text
    return ErrorCode.UNSUPPORTED_VERSION, _STATIC


def _is_of_cluster(context: HandlerContext, cluster_id: str | None) -> bool:
    return cluster_id in (None, context.identity.cluster_id)


def _is_voter_key(node_id: int, directory_id: bytes) -> bool:
    return node_id >= 0 and directory_id != ZERO_UUID


def _listener(context: HandlerContext) -> str:
    """Return the name of the listener by which voters would reach each other."""
    names = context.config.settings.controller_listener_names
    return (names or (_DEFAULT_LISTENER,))[0].upper()


def _is_reachable(context: HandlerContext, found: Sequence[Listener | UpdatedListener]) -> bool:
    return _listener(context) in {each.name.upper() for each in found}

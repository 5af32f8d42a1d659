"""What brokers ask each other and the controller, asked by a user who is none (ClusterAction)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from fencepost_protocol.generated.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
)
from fencepost_protocol.generated.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)
from fencepost_protocol.generated.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from fencepost_protocol.generated.envelope import EnvelopeRequest, EnvelopeResponse
from fencepost_protocol.generated.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
    ReplicaState,
)
from fencepost_protocol.generated.fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotRequestPartitionSnapshot,
    FetchSnapshotRequestTopicSnapshot,
    FetchSnapshotResponse,
)
from fencepost_protocol.generated.sasl_authenticate import SaslAuthenticateRequest
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeRequest
from fencepost_protocol.generated.update_raft_voter import (
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopic,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

from tests.conformance.envelope_cases import DELETION, NOBODY, V4
from tests.support.up import Wire

SESSION: Final = 1
WANTS_SESSION: Final = "follower that wants a session"
"""Kafka gives one to who is refused; here brokers need them."""
TOPIC: Final = "absent"
_TOPIC_ID: Final = bytes(15) + b"\x07"
_METADATA: Final = FetchTopic("__cluster_metadata", bytes(15) + b"\x01", [FetchPartition(0)])
_TWO: Final = FetchTopic(TOPIC, _TOPIC_ID, [FetchPartition(0), FetchPartition(1)])
_SNAPSHOT: Final = FetchSnapshotRequestTopicSnapshot(
    "__cluster_metadata", [FetchSnapshotRequestPartitionSnapshot(0)]
)
_TRANSACTION: Final = AddPartitionsToTxnTransaction(
    "t", 1, 0, topics=[AddPartitionsToTxnTopic(TOPIC, [0])]
)
_MARKER: Final = WritableTxnMarker(1, 0, topics=[WritableTxnMarkerTopic(TOPIC, [0])])

_CODE: Final = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
_NOT_HERE: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED


class Case(NamedTuple):
    """A request, and the answer to a user who is no broker."""

    request: Message
    version: int
    answer: Message


def _refused(name: str = "", topic_id: bytes = bytes(16)) -> FetchResponse:
    partitions = [
        PartitionData(number, _NOT_HERE, -1, aborted_transactions=[], records=b"")
        for number in (0, 1)
    ]
    topic = FetchableTopicResponse(name, topic_id, partitions)
    return FetchResponse(responses=[topic])


def _follower(session_epoch: int = -1) -> FetchRequest:
    return FetchRequest(
        replica_state=ReplicaState(7, -1), session_epoch=session_epoch, topics=[_TWO]
    )


OF_CONTROLLER: Final = {
    "registration": Case(
        BrokerRegistrationRequest(7, "x", rack=None), 4,
        BrokerRegistrationResponse(error_code=_CODE),
    ),
    "heartbeat": Case(BrokerHeartbeatRequest(7, 7), 1, BrokerHeartbeatResponse(error_code=_CODE)),
    "who is in sync": Case(
        AlterPartitionRequest(7, 7), 3, AlterPartitionResponse(error_code=_CODE)
    ),
    "producer ids": Case(
        AllocateProducerIdsRequest(7, 7), 0, AllocateProducerIdsResponse(error_code=_CODE)
    ),
    "envelope": Case(
        EnvelopeRequest(DELETION, NOBODY, V4), 0, EnvelopeResponse(error_code=_CODE)
    ),
    "envelope with nobody in it": Case(
        EnvelopeRequest(DELETION, None, V4), 0, EnvelopeResponse(error_code=_CODE)
    ),
    "metadata by id": Case(
        FetchRequest(replica_state=ReplicaState(7, -1), topics=[_METADATA]), 17,
        FetchResponse(error_code=_CODE),
    ),
    "snapshot": Case(
        FetchSnapshotRequest(None, 7, topics=[_SNAPSHOT]), 0,
        FetchSnapshotResponse(error_code=_CODE),
    ),
    "voter": Case(
        UpdateRaftVoterRequest("x", 1, 7), 0, UpdateRaftVoterResponse(error_code=_CODE)
    ),
}  # fmt: skip
OF_BROKER: Final = {
    "follower by name": Case(
        FetchRequest(replica_id=7, session_epoch=-1, topics=[_TWO]), 12, _refused(TOPIC)
    ),
    "follower by id": Case(_follower(), 17, _refused("", _TOPIC_ID)),
    WANTS_SESSION: Case(_follower(0), 17, _refused("", _TOPIC_ID)),
    "follower without a partition": Case(
        FetchRequest(replica_id=7, session_epoch=-1), 12, FetchResponse()
    ),
    "markers": Case(
        WriteTxnMarkersRequest([_MARKER]), 1,
        WriteTxnMarkersResponse([WritableTxnMarkerResult(1, [
            WritableTxnMarkerTopicResult(TOPIC, [WritableTxnMarkerPartitionResult(0, _CODE)])
        ])]),
    ),
    "no markers": Case(WriteTxnMarkersRequest(), 1, WriteTxnMarkersResponse()),
    "a leader's partitions": Case(
        AddPartitionsToTxnRequest([_TRANSACTION]), 5, AddPartitionsToTxnResponse(error_code=_CODE)
    ),
}  # fmt: skip


def logged_in(port: int, user: str, password: str) -> Wire:
    """A connection by PLAIN."""
    wire = Wire(port)
    assert not wire.ask(SaslHandshakeRequest("PLAIN"), 1).error_code
    said = f"\0{user}\0{password}".encode()
    answer = wire.ask(SaslAuthenticateRequest(said), 2)
    assert not answer.error_code, answer.error_message
    return wire


def answers(port: int, cases: dict[str, Case], user: str, password: str) -> dict[str, Any]:
    """What each request is answered with; the number of a session is chance."""
    found = {}
    for label, case in cases.items():
        with logged_in(port, user, password) as wire:
            found[label] = answer = wire.ask(case.request, case.version)
            if getattr(answer, "session_id", 0):
                answer.session_id = SESSION
    return found


def expected(cases: dict[str, Case]) -> dict[str, Message]:
    """What each request of a user is to be answered with."""
    return {label: case.answer for label, case in cases.items()}

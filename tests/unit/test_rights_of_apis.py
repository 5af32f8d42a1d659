"""Every API that is served says what it asks of who sends it; one that does not is refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fencepost_broker.apis.authorization.layer import check_of, rights_step
from fencepost_broker.apis.authorization.whole import everybody
from fencepost_broker.apis.controller.registry import SERVED_BY_CONTROLLER
from fencepost_broker.apis.delegation_tokens import DELEGATION_TOKEN_APIS
from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.request import CompletedRequest
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.security.authorizer.authorizer import Authorizer
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnResponse
from fencepost_protocol.generated.index import ApiKey

OF_BROKERS = {
    ApiKey.ALTER_PARTITION, ApiKey.ENVELOPE, ApiKey.FETCH_SNAPSHOT, ApiKey.BROKER_REGISTRATION,
    ApiKey.BROKER_HEARTBEAT, ApiKey.ALLOCATE_PRODUCER_IDS, ApiKey.UPDATE_RAFT_VOTER,
}  # fmt: skip


SERVED_ANYWHERE = {api.key: api for api in (*SERVED_BY_CONTROLLER, *SERVED)}


def test_nothing_is_for_everybody_but_what_has_to_be() -> None:
    free = {key for key, api in SERVED_ANYWHERE.items() if check_of(api) is everybody}
    first = {ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE}
    by_topics = {ApiKey.FETCH}  # where each topic is looked up
    of_telemetry = {ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY}  # as in Kafka
    by_tokens = {each.key for each in DELEGATION_TOKEN_APIS}  # where each owner is looked up
    assert free == OF_BROKERS | first | by_topics | of_telemetry | by_tokens


def test_what_is_refused_is_answered_before_the_handler() -> None:
    authorizer = Authorizer([], list, allows_without_acls=False)
    step = rights_step(SERVED_ANYWHERE[ApiKey.END_TXN], authorizer)
    assert step is not None
    peer: Any = SimpleNamespace(user="u", client_host="/h", metrics=Metrics())
    request = CompletedRequest(peer, ApiKey.END_TXN, 3, 7, "c", memoryview(b""), 0)
    context = SimpleNamespace(image=None, config=SimpleNamespace(settings=None))
    response = step(context, request, EndTxnRequest("t", 1, 1, True))
    assert isinstance(response, EndTxnResponse)
    assert response.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED

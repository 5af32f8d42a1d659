"""Delegation tokens (KIP-48, KIP-373) in the controller; Apache Kafka is asked elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.controller.ports import ControllerSettings, TokenCommand, TokenSettings
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from fencepost_protocol.generated.expire_delegation_token import ExpireDelegationTokenRequest
from fencepost_protocol.generated.renew_delegation_token import RenewDelegationTokenRequest

from tests.machine.controller.cluster import CLUSTER_ID, Cluster

NOW_MS, LIFETIME_MS, RENEWED_FOR_MS, CHECK_MS = 1_000_000, 7_000, 1_000, 600
TOKENS = TokenSettings("the key", LIFETIME_MS, RENEWED_FOR_MS, CHECK_MS)


@pytest.fixture
def cluster() -> Cluster:
    settings = ControllerSettings(node_id=1, cluster_id=CLUSTER_ID, tokens=TOKENS)
    return Cluster(settings, now_ms=NOW_MS)


def ask(cluster: Cluster, request: Message, user: str = "alice") -> Any:
    return cluster.ask(TokenCommand(user, request))


def made(cluster: Cluster, *renewers: str, lifetime_ms: int = -1, owner: str | None = None) -> Any:
    wanted = [CreatableRenewers("User", name) for name in renewers]
    request = CreateDelegationTokenRequest(owner and "User", owner, wanted, lifetime_ms)
    answer = ask(cluster, request)
    assert answer.error_code == ErrorCode.NONE
    return answer


def code(answer: Any) -> str:
    return ErrorCode(answer.error_code).name


@pytest.mark.parametrize(
    ("lifetime_ms", "expiry_ms", "max_ms"),
    [
        (-1, RENEWED_FOR_MS, LIFETIME_MS),
        (0, RENEWED_FOR_MS, LIFETIME_MS),
        (500, 500, 500),
        (LIFETIME_MS + 1, RENEWED_FOR_MS, LIFETIME_MS),
    ],
)
def test_how_long_a_new_token_is_valid(
    cluster: Cluster, lifetime_ms: int, expiry_ms: int, max_ms: int
) -> None:
    token = made(cluster, lifetime_ms=lifetime_ms)
    assert token.issue_timestamp_ms == NOW_MS
    assert token.expiry_timestamp_ms == NOW_MS + expiry_ms
    assert token.max_timestamp_ms == NOW_MS + max_ms
    assert (token.principal_name, token.token_requester_principal_name) == ("alice", "alice")


def test_a_token_of_another_owner_has_its_requester(cluster: Cluster) -> None:
    token = made(cluster, owner="bob")
    assert (token.principal_name, token.token_requester_principal_name) == ("bob", "alice")
    renewal = RenewDelegationTokenRequest(token.hmac, -1)
    assert code(ask(cluster, renewal)) == "DELEGATION_TOKEN_OWNER_MISMATCH"
    assert code(ask(cluster, renewal, "bob")) == "NONE"


def test_owner_and_renewers_renew_also_after_a_restart(cluster: Cluster) -> None:
    token = made(cluster, "carol")
    assert code(ask(cluster, RenewDelegationTokenRequest(b"another", -1))) == (
        "DELEGATION_TOKEN_NOT_FOUND"
    )
    mismatch = ask(cluster, RenewDelegationTokenRequest(token.hmac, -1), "mallory")
    assert (code(mismatch), mismatch.expiry_timestamp_ms) == ("DELEGATION_TOKEN_OWNER_MISMATCH", 0)
    cluster = cluster.restarted(seed=1)
    for period_ms, expiry_ms in (
        (-1, RENEWED_FOR_MS), (300, 300), (0, RENEWED_FOR_MS), (1 << 40, RENEWED_FOR_MS),
    ):  # fmt: skip
        answer = ask(cluster, RenewDelegationTokenRequest(token.hmac, period_ms), "carol")
        assert (code(answer), answer.expiry_timestamp_ms) == ("NONE", NOW_MS + expiry_ms)


def test_a_token_that_has_expired_is_not_renewed_and_is_removed_at_the_next_check(
    cluster: Cluster,
) -> None:
    token = made(cluster)
    kept = made(cluster)
    ask(cluster, ExpireDelegationTokenRequest(kept.hmac, LIFETIME_MS))
    cluster.advance(RENEWED_FOR_MS)
    assert code(ask(cluster, ExpireDelegationTokenRequest(token.hmac, 0))) == "NONE"
    cluster.now_ms += 1
    for request in (
        RenewDelegationTokenRequest(token.hmac, -1), ExpireDelegationTokenRequest(token.hmac, 5),
    ):  # fmt: skip
        assert code(ask(cluster, request)) == "DELEGATION_TOKEN_EXPIRED"
    cluster.advance(CHECK_MS)
    assert list(cluster.image.delegation_tokens.by_id) == [kept.token_id]
    assert code(ask(cluster, RenewDelegationTokenRequest(token.hmac, -1))) == (
        "DELEGATION_TOKEN_NOT_FOUND"
    )


def test_expiring_sets_the_time_or_removes_at_once(cluster: Cluster) -> None:
    token = made(cluster)
    answer = ask(cluster, ExpireDelegationTokenRequest(token.hmac, 5_000))
    assert answer.expiry_timestamp_ms == NOW_MS + 5_000
    answer = ask(cluster, ExpireDelegationTokenRequest(token.hmac, -1))
    assert (code(answer), answer.expiry_timestamp_ms) == ("NONE", NOW_MS)
    assert not cluster.image.delegation_tokens.by_id


def test_without_a_key_there_are_no_tokens() -> None:
    cluster = Cluster()
    for request in (
        CreateDelegationTokenRequest(None, None, [], -1),
        RenewDelegationTokenRequest(b"h", -1),
        ExpireDelegationTokenRequest(b"h", -1),
    ):
        assert code(ask(cluster, request)) == "DELEGATION_TOKEN_AUTH_DISABLED"

"""AlterUserScramCredentials (KIP-554); codes are compared with Kafka's elsewhere."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

import pytest
from fencepost_broker.apis.security.scram_users import described_credentials
from fencepost_broker.controller.ports import ControllerSettings
from fencepost_protocol.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from fencepost_protocol.generated.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
)

from tests.machine.controller.cluster import CLUSTER_ID, TOO_MANY_RECORDS, Cluster, told

SHA_256, SHA_512 = 1, 2


@pytest.fixture
def cluster() -> Cluster:
    return Cluster().up(1)


def alter(
    cluster: Cluster,
    *upsertions: tuple[str, int, int],
    delete: Sequence[tuple[str, int]] = (),
    salted: bytes = b"salted",
) -> dict[str, tuple[str, str | None]]:
    answer = cluster.ask(
        AlterUserScramCredentialsRequest(
            [ScramCredentialDeletion(*each) for each in delete],
            [ScramCredentialUpsertion(*each, b"salt", salted) for each in upsertions],
        )
    )
    return {each.user: told(each) for each in answer.results}


def users(cluster: Cluster) -> dict[str, list[tuple[int, int]]]:
    answer = described_credentials(cluster.image, DescribeUserScramCredentialsRequest(None))
    return {
        each.user: [(info.mechanism, info.iterations) for info in each.credential_infos]
        for each in answer.results
    }


def test_set_changed_and_deleted_over_a_restart(cluster: Cluster) -> None:
    fine = ("NONE", None)
    assert alter(cluster, ("a", SHA_256, 4096), ("b", SHA_512, 16384)) == {"a": fine, "b": fine}
    assert alter(cluster, ("a", SHA_512, 5000)) == {"a": fine}
    cluster = cluster.restarted()
    assert users(cluster) == {"a": [(SHA_256, 4096), (SHA_512, 5000)], "b": [(SHA_512, 16384)]}
    assert alter(cluster, ("b", SHA_512, 8192), delete=[("a", SHA_256)]) == {"a": fine, "b": fine}
    cluster = cluster.restarted()
    assert users(cluster) == {"a": [(SHA_512, 5000)], "b": [(SHA_512, 8192)]}


@pytest.mark.parametrize(("mechanism", "digest"), [(SHA_256, "sha256"), (SHA_512, "sha512")])
def test_what_is_kept_cannot_be_logged_in_with(
    cluster: Cluster, mechanism: int, digest: str
) -> None:
    """RFC 5802: StoredKey is H(ClientKey), and a proof needs ClientKey."""
    salted = hashlib.pbkdf2_hmac(digest, b"pencil", b"salt", 4096)
    alter(cluster, ("a", mechanism, 4096), salted=salted)
    kept = cluster.image.scram.credentials["a", mechanism]
    client_key = hmac.digest(salted, b"Client Key", digest)
    assert kept.stored_key == hashlib.new(digest, client_key).digest()
    assert kept.server_key == hmac.digest(salted, b"Server Key", digest)
    assert (kept.salt, kept.iterations) == (b"salt", 4096)
    assert not {salted, client_key} & {kept.stored_key, kept.server_key}


def test_a_user_is_named_once_and_others_are_done(cluster: Cluster) -> None:
    outcomes = alter(cluster, ("a", SHA_256, 4096), ("a", SHA_512, 4096), ("b", SHA_256, 4096))
    assert outcomes == {
        "a": (
            "DUPLICATE_RESOURCE",
            "a is in the request more than once: send one mechanism for each user",
        ),
        "b": ("NONE", None),
    }
    assert list(users(cluster)) == ["b"]


@pytest.mark.parametrize(
    ("upsertion", "code", "reason"),
    [
        (("", SHA_256, 4096), "UNACCEPTABLE_CREDENTIAL", "the user's name is empty"),
        (("a", 3, 4096), "UNSUPPORTED_SASL_MECHANISM",
         "there is no SCRAM mechanism 3: use 1 (SCRAM-SHA-256), 2 (SCRAM-SHA-512)"),
        (("a", SHA_256, 4095), "UNACCEPTABLE_CREDENTIAL",
         "4095 iterations: SCRAM-SHA-256 takes 4096 to 16384"),
        (("a", SHA_512, 16385), "UNACCEPTABLE_CREDENTIAL",
         "16385 iterations: SCRAM-SHA-512 takes 4096 to 16384"),
    ],
)  # fmt: skip
def test_refused(cluster: Cluster, upsertion: tuple[str, int, int], code: str, reason: str) -> None:
    assert alter(cluster, upsertion) == {upsertion[0]: (code, reason)}
    assert users(cluster) == {}


def test_an_empty_password_is_refused(cluster: Cluster) -> None:
    outcome = alter(cluster, ("a", SHA_256, 4096), salted=b"")
    assert outcome == {"a": ("UNACCEPTABLE_CREDENTIAL", "the salted password is empty")}


def test_nobody_to_delete(cluster: Cluster) -> None:
    assert alter(cluster, delete=[("a", SHA_256)]) == {
        "a": (
            "RESOURCE_NOT_FOUND",
            "a has no SCRAM-SHA-256 credential to delete",
        )
    }


def test_more_records_than_a_request_may_write() -> None:
    settings = ControllerSettings(node_id=1, cluster_id=CLUSTER_ID, records_per_request_max=1)
    cluster = Cluster(settings)
    refused = ("POLICY_VIOLATION", TOO_MANY_RECORDS.replace("10000", "1"))
    outcomes = alter(cluster, ("a", SHA_256, 4096), ("b", SHA_256, 4096))
    assert outcomes == {"a": refused, "b": refused}
    assert users(cluster) == {}

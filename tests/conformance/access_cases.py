"""What Apache Kafka's controller and ours are asked about quotas, SCRAM users and ACLs.

Kafka keeps to quotas: those of everybody leave enough to whoever asks, or are about what nobody
does here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fencepost_protocol.generated.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    OpData,
)
from fencepost_protocol.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from fencepost_protocol.generated.describe_acls import DescribeAclsRequest
from fencepost_protocol.generated.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from fencepost_protocol.generated.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)

from tests.conformance.controller_cases import case
from tests.conformance.controller_peer import Case

EXACTLY, DEFAULT, ANY = range(3)
PRODUCED, CONSUMED = "producer_byte_rate", "consumer_byte_rate"
Names = Sequence[tuple[str, str | None]]
Change = tuple[str, float | None]
"""A quota, and what becomes of it; None takes it away."""


def quotas(*entries: tuple[Names, Sequence[Change]], dry: bool = False) -> Case:
    asked = [
        AlterClientQuotasRequestEntryData(
            [AlterClientQuotasRequestEntityData(*name) for name in names],
            [OpData(key, value or 0.0, value is None) for key, value in changes],
        )
        for names, changes in entries
    ]
    return case(AlterClientQuotasRequest(asked, dry))


def described(*components: tuple[str, int, str | None], strict: bool = False) -> Case:
    return case(DescribeClientQuotasRequest([ComponentData(*each) for each in components], strict))


USER, CLIENT = [("user", "u")], [("client-id", "c")]
BOTH = [*USER, *CLIENT]
ADDRESS = [("ip", "10.0.0.1")]


def quota_changes() -> Iterator[tuple[str, Case]]:
    yield "nothing", quotas()
    yield "nobody", quotas(([], [(PRODUCED, 1.0)]))
    yield "nothing of somebody", quotas((USER, []))
    for entity in (USER, CLIENT, BOTH, [("user", None)], [("client-id", None)]):
        yield f"set {entity}", quotas((entity, [(PRODUCED, 1000.0), (CONSUMED, 500.0)]))
    yield "the same again", quotas((USER, [(PRODUCED, 1000.0)]))
    yield "another value", quotas((USER, [(PRODUCED, 2000.0), ("request_percentage", 0.5)]))
    yield "in the other order", quotas((BOTH[::-1], [(PRODUCED, 3.0)]))
    yield "defaults", quotas(([("user", None), ("client-id", None)], [(CONSUMED, 3.0)]))
    yield "mixed", quotas(([("user", "u"), ("client-id", None)], [(CONSUMED, 4.0)]))
    yield "address", quotas((ADDRESS, [("connection_creation_rate", 10.0)]))
    yield "all addresses", quotas(([("ip", None)], [("connection_creation_rate", 11e5)]))
    yield "try only", quotas((USER, [(PRODUCED, 7.0)]), dry=True)
    yield "try what is wrong", quotas((USER, [("x", 7.0)]), dry=True)
    yield from _refused_quotas()
    yield "away", quotas((USER, [(PRODUCED, None)]))
    yield "away again", quotas((USER, [(PRODUCED, None)]))
    yield "away, unknown", quotas((USER, [("x", None)]))
    yield "away, of nobody", quotas(([("user", "w")], [(PRODUCED, None)]))
    yield "two, one wrong", quotas((USER, [("x", 7.0)]), (CLIENT, [(PRODUCED, 8.0)]))


def _refused_quotas() -> Iterator[tuple[str, Case]]:
    for value in (0.0, -1.0, 0.5, 1.5, 1.0000001, 1e30, 9.3e18, float("inf")):
        for key in (PRODUCED, "request_percentage", "controller_mutation_rate"):
            yield f"{key}={value}", quotas(([("user", "v")], [(key, value)]))
    for value in (0.5, 1.5, 2147483647.0, 2147483648.0, 1e30):
        yield f"of an address {value}", quotas((ADDRESS, [("connection_creation_rate", value)]))
    yield "unknown key", quotas((USER, [("nope", 1.0)]))
    yield "empty key", quotas((USER, [("", 1.0)]))
    yield "a good one and a wrong one", quotas((USER, [(CONSUMED, 99.0), ("nope", 1.0)]))
    yield "connections of a user", quotas((USER, [("connection_creation_rate", 1.0)]))
    yield "bytes of an address", quotas((ADDRESS, [(PRODUCED, 1.0)]))
    for names in (
        [("group", "g")], [("", "g")], [("user", "")], [("client-id", "")], [("ip", "")],
        [("user", "u"), ("ip", "10.0.0.1")], [("client-id", "c"), ("ip", None)],
        [("user", "u"), ("group", "g")], [("user", "u"), ("client-id", "c"), ("ip", "10.0.0.1")],
        [("ip", "no.such.host.invalid")], [("ip", "::1")],
        [("user", "u"), ("user", "t")], [("User", "u")],
    ):  # fmt: skip
        key = "connection_creation_rate" if ("ip", "::1") in names else PRODUCED
        yield f"entity {names}", quotas((names, [(key, 5.0)]))
    yield (
        "a host that is none",
        quotas(([("ip", "no.such.host.invalid")], [("connection_creation_rate", 1.0)])),
    )
    yield "no such kind, no such key", quotas(([("group", "g")], [("nope", 1.0)]))
    yield "a quota twice", quotas((USER, [(PRODUCED, 21.0), (PRODUCED, 22.0)]))
    yield "a quota twice, away", quotas((USER, [(PRODUCED, None), (PRODUCED, 22.0)]))
    yield "an entity twice", quotas((USER, [(CONSUMED, 31.0)]), (USER, [(PRODUCED, 32.0)]))
    yield "an entity twice, alike", quotas((USER, [(CONSUMED, 41.0)]), (USER, [(CONSUMED, 42.0)]))


def quota_descriptions() -> Iterator[tuple[str, Case]]:
    for strict in (False, True):
        told = f"strict={strict}"
        yield f"all, {told}", described(strict=strict)
        for kind in ("user", "client-id", "ip"):
            yield f"any {kind}, {told}", described((kind, ANY, None), strict=strict)
            yield f"default {kind}, {told}", described((kind, DEFAULT, None), strict=strict)
            yield f"no such {kind}, {told}", described((kind, EXACTLY, "x"), strict=strict)
        yield f"u, {told}", described(("user", EXACTLY, "u"), strict=strict)
        both = (("user", EXACTLY, "u"), ("client-id", ANY, None))
        yield f"u and any, {told}", described(*both, strict=strict)
    yield "address", described(("ip", EXACTLY, "10.0.0.1"))
    for wrong in (
        ("", EXACTLY, "u"), ("group", EXACTLY, "g"), ("user", EXACTLY, None),
        ("user", DEFAULT, "u"), ("user", ANY, "u"), ("user", 3, None), ("user", -1, "u"),
        ("group", 9, None), ("", 9, None),
    ):  # fmt: skip
        yield f"{wrong}", described(wrong)
    yield "twice", described(("user", EXACTLY, "u"), ("user", ANY, None))
    yield "twice unknown", described(("group", EXACTLY, "u"), ("group", ANY, None))
    yield "address and user", described(("ip", ANY, None), ("user", ANY, None))
    yield "address and client", described(("client-id", ANY, None), ("ip", EXACTLY, "10.0.0.1"))


SHA_256, SHA_512 = 1, 2


def credentials(
    *upsertions: tuple[str, int, int],
    delete: Sequence[tuple[str, int]] = (),
    salted: bytes = b"salted password",
    salt: bytes = b"salt",
) -> Case:
    return case(
        AlterUserScramCredentialsRequest(
            [ScramCredentialDeletion(*each) for each in delete],
            [ScramCredentialUpsertion(*each, salt, salted) for each in upsertions],
        )
    )


def who(*users: str) -> Case:
    return case(DescribeUserScramCredentialsRequest([UserName(each) for each in users]))


def scram_changes() -> Iterator[tuple[str, Case]]:
    yield "nobody yet", who()
    yield "nothing", credentials()
    yield "first", credentials(("a", SHA_256, 4096), ("b", SHA_256, 16384))
    yield "both mechanisms", credentials(("c", SHA_256, 4096), ("c", SHA_512, 8192))
    yield "the other mechanism", credentials(("a", SHA_512, 8192))
    yield "the same again", credentials(("a", SHA_256, 4096))
    yield "another password", credentials(("a", SHA_256, 4096), salted=b"other", salt=b"")
    for iterations in (-1, 0, 4095, 16385):
        for mechanism in (SHA_256, SHA_512):
            yield f"{iterations} of {mechanism}", credentials(("a", mechanism, iterations))
    for mechanism in (-1, 0, 3):
        yield f"mechanism {mechanism}", credentials(("a", mechanism, 4096))
        yield f"delete mechanism {mechanism}", credentials(delete=[("a", mechanism)])
    yield "no name", credentials(("", SHA_256, 4096))
    yield "no name, no mechanism", credentials(("", 9, 1))
    yield "no mechanism, no iterations", credentials(("a", 9, 1))
    yield "delete no name", credentials(delete=[("", SHA_256)])
    yield "delete nobody", credentials(delete=[("z", SHA_256)])
    yield "delete what is not", credentials(delete=[("b", SHA_512)])
    yield "delete twice", credentials(delete=[("b", SHA_256), ("b", SHA_256)])
    yield "delete nobody twice", credentials(delete=[("z", SHA_256), ("z", SHA_256)])
    yield "upsert twice", credentials(("d", SHA_256, 4096), ("d", SHA_256, 5000))
    yield "wrong twice", credentials(("d", 9, 4096), ("d", 9, 5000))
    yield "upsert both, one wrong", credentials(("d", SHA_256, 4096), ("d", SHA_512, 1))
    yield "upsert both, first wrong", credentials(("d", SHA_256, 1), ("d", SHA_512, 4096))
    yield "two mistakes", credentials(("d", SHA_256, 1), ("d", 9, 4096))
    yield "replace", credentials(("b", SHA_256, 4096), delete=[("b", SHA_256)])
    yield "one for another", credentials(("b", SHA_512, 4096), delete=[("b", SHA_256)])
    yield "one for another, wrong", credentials(("b", SHA_256, 1), delete=[("b", SHA_512)])
    yield "others are done", credentials(("e", SHA_256, 4096), ("f", SHA_256, 1))
    yield "a long name", credentials(("n" * 300, SHA_256, 4096))
    yield "everybody", who()
    yield "null is everybody", case(DescribeUserScramCredentialsRequest(None))
    yield "some", who("a", "e")
    yield "one and nobody", who("a", "z")
    yield "twice", who("a", "a", "b")
    yield "nobody twice", who("z", "z")
    yield "empty name", who("")
    yield "both away", credentials(delete=[("a", SHA_256), ("a", SHA_512), ("e", SHA_256)])
    yield "away", credentials(delete=[("a", SHA_256), ("b", SHA_256)])
    yield "who is left", who()


AclFields = tuple[int, str, int, str, str, int, int]
FilterFields = tuple[int, str | None, int, str | None, str | None, int, int]
READ_T: AclFields = (2, "t", 3, "User:a", "*", 3, 3)
EVERY: FilterFields = (1, None, 1, None, None, 1, 1)


def create_acls(*acls: AclFields) -> Case:
    return case(CreateAclsRequest([AclCreation(*each) for each in acls]))


def delete_acls(*filters: FilterFields) -> Case:
    return case(DeleteAclsRequest([DeleteAclsFilter(*each) for each in filters]))


def which_acls(*wanted: Any) -> Case:
    return case(DescribeAclsRequest(*wanted))


def acl_changes() -> Iterator[tuple[str, Case]]:
    yield "none yet", which_acls(*EVERY)
    yield "nothing", create_acls()
    yield "one", create_acls(READ_T)
    yield "the same again", create_acls(READ_T)
    yield "twice", create_acls((2, "t", 3, "User:b", "*", 3, 3), (2, "t", 3, "User:b", "*", 3, 3))
    for place, values in (
        (0, (3, 4, 5, 6, 7, 8, 99, -1)),
        (1, ("", "*", "kafka-cluster", "x" * 300, "a b")),
        (2, (4, 5, -1)),
        (3, ("", "a", "User", "User:", ":x", "Group:x", "User:*", "Odd:a:b", "user:a")),
        (4, ("", "*", "10.0.0.1", "::1", "no host")),
        (5, (*range(2, 17), -1)),
        (6, (2, 4, -1)),
    ):
        for value in values:
            changed: Any = (*READ_T[:place], value, *READ_T[place + 1 :])
            yield f"{place} is {value!r}", create_acls(changed)
    yield "the cluster", create_acls((4, "kafka-cluster", 3, "User:a", "*", 2, 3))
    yield "clusters alike", create_acls((4, "kafka-cluster", 4, "User:a", "*", 2, 3))
    yield "every cluster", create_acls((4, "*", 3, "User:a", "*", 2, 3))
    yield (
        "one is wrong",
        create_acls((2, "u", 3, "User:c", "*", 3, 3), (2, "", 3, "U:c", "*", 3, 3)),
    )
    yield "prefixes", create_acls((2, "t", 4, "User:d", "*", 3, 3), (2, "tea", 4, "U:d", "*", 3, 2))
    yield from _acl_filters()
    yield "delete nothing", delete_acls()
    yield "delete what is not", delete_acls((2, "no", 3, None, None, 1, 1))
    yield (
        "by two filters",
        delete_acls((2, "u", 3, None, None, 1, 1), (2, "u", 1, None, None, 1, 1)),
    )
    yield "and again", delete_acls((2, "u", 3, None, None, 1, 1))
    yield (
        "one is wrong",
        delete_acls((2, "t", 9, None, None, 1, 1), (2, "a b", 3, None, None, 1, 1)),
    )
    for wrong in ((9, 3, 1, 1), (2, -1, 1, 1), (2, 3, 99, 1), (2, 3, 1, 9)):
        yield f"delete {wrong}", delete_acls((wrong[0], "t", wrong[1], None, None, *wrong[2:]))
    yield "what would apply", delete_acls((2, "teas", 2, None, None, 1, 2))
    yield "all", delete_acls(EVERY)
    yield "none left", which_acls(*EVERY)


def _acl_filters() -> Iterator[tuple[str, Case]]:
    for resource_type in (1, 2, 4, 8, 99, -1):
        for name in (None, "t", "teapot", "*", ""):
            for pattern in (1, 2, 3, 4, 9):
                wanted = (resource_type, name, pattern, None, None, 1, 1)
                yield f"which {wanted}", which_acls(*wanted)
    for principal in ("User:a", "User:*", "a", ""):
        yield f"of {principal!r}", which_acls(1, None, 1, principal, None, 1, 1)
    for host in ("*", "10.0.0.1", ""):
        yield f"at {host!r}", which_acls(1, None, 1, None, host, 1, 1)
    for operation in (1, 2, 3, 8, 99):
        yield f"to {operation}", which_acls(1, None, 1, None, None, operation, 1)
    for permission in (1, 2, 3, 9):
        yield f"is {permission}", which_acls(1, None, 1, None, None, 1, permission)

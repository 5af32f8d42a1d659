"""The authorizer agrees with a model that looks at every entry of every question."""

from __future__ import annotations

from fencepost_broker.security.authorizer.acls import Acl
from fencepost_broker.security.authorizer.authorizer import Authorizer, Rights
from fencepost_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from hypothesis import given
from hypothesis import strategies as st

NAMES = ("a", "ab", "abc", "b", "*", "hardcode")
USERS = ("u", "v", "*")
HOSTS = ("h", "i")
OPERATIONS = tuple(range(3, 16))
DENY, ALLOW = 2, 3
LITERAL, PREFIXED = 3, 4

entries = st.builds(
    Acl,
    st.sampled_from((2, 3)),
    st.sampled_from(NAMES),
    st.sampled_from((LITERAL, PREFIXED)),
    st.sampled_from([f"User:{each}" for each in USERS] + ["Group:u"]),
    st.sampled_from((*HOSTS, "*")),
    st.sampled_from((2, *OPERATIONS)),
    st.sampled_from((DENY, ALLOW)),
)
questions = st.tuples(
    st.sampled_from(("u", "v", "super")),
    st.sampled_from(HOSTS),
    st.sampled_from(OPERATIONS),
    st.sampled_from((2, 3)),
    st.sampled_from(("a", "ab", "abcd", "b", "x")),
)


def about(acl: Acl, kind: int, name: str) -> bool:
    if acl.resource_type != kind:
        return False
    if acl.pattern_type == PREFIXED:
        return name.startswith(acl.resource_name)
    return acl.resource_name in ("*", name)


def concerns(acl: Acl, user: str, host: str) -> bool:
    return acl.principal in (f"User:{user}", "User:*") and acl.host in ("*", host)


def model(acls: list[Acl], question: tuple[str, str, int, int, str], *, otherwise: bool) -> bool:
    user, host, operation, kind, name = question
    if user == "super":
        return True
    found = [acl for acl in acls if about(acl, kind, name)]
    if not found:
        return otherwise
    mine = [acl for acl in found if concerns(acl, user, host)]
    covered = {2, operation}
    if any(acl.permission_type == DENY and acl.operation in covered for acl in mine):
        return False
    implying = {8: {3, 4, 6, 7}, 10: {11}}.get(operation, set())
    return any(acl.permission_type == ALLOW and acl.operation in covered | implying for acl in mine)


def made(acls: list[Acl], *, otherwise: bool = False) -> Authorizer:
    records = [AccessControlEntryRecord(bytes(16), *acl) for acl in acls]
    return Authorizer(["super"], lambda: records, allows_without_acls=otherwise)


@given(st.lists(entries, max_size=12), st.lists(questions, min_size=1), st.booleans())
def test_decisions(
    acls: list[Acl], asked: list[tuple[str, str, int, int, str]], otherwise: bool
) -> None:
    authorizer = made(acls, otherwise=otherwise)
    for question in asked:
        assert authorizer.allows(*question) == model(acls, question, otherwise=otherwise)


@given(st.lists(entries, max_size=12), questions)
def test_what_is_allowed_to_one_is_allowed_to_any(
    acls: list[Acl], question: tuple[str, str, int, int, str]
) -> None:
    """Of names that are allowed by an entry, and denied by none: Kafka looks at entries alone."""
    user, host, operation, kind, _ = question
    acls = [acl for acl in acls if acl.operation in (2, operation)]
    authorizer = made(acls)
    usable = [
        acl.resource_name
        for acl in acls
        if acl.resource_type == kind
        and acl.permission_type == ALLOW
        and concerns(acl, user, host)
        and acl.resource_name != "*"
    ]
    if any(authorizer.allows(user, host, operation, kind, name) for name in usable):
        assert authorizer.allows_any(user, host, operation, kind)
    if not any(acl.resource_type == kind and acl.permission_type == ALLOW for acl in acls):
        assert authorizer.allows_any(user, host, operation, kind) == (user == "super")


def test_other_entries_count_once_they_are_there() -> None:
    records: list[AccessControlEntryRecord] = []
    authorizer = Authorizer([], lambda: records, allows_without_acls=False)
    assert not authorizer.allows("u", "h", 3, 2, "t")
    records.append(AccessControlEntryRecord(bytes(16), 2, "t", 3, "User:u", "*", 3, 3))
    authorizer.changed()
    assert authorizer.allows("u", "h", 3, 2, "t")
    assert authorizer.operations("u", "h", 2, "t", 1 << 3 | 1 << 4 | 1 << 8) == 1 << 3 | 1 << 8


def test_hosts_are_compared_as_java_writes_them() -> None:
    rule = AccessControlEntryRecord(bytes(16), 2, "t", 3, "User:u", "0:0:0:0:0:0:0:1", 3, 3)
    authorizer = Authorizer([], lambda: [rule], allows_without_acls=False)
    assert Rights(authorizer, "u", "/::1").of_topic(3, "t")
    assert not Rights(authorizer, "u", "/::2").of_topic(3, "t")
    assert Rights(authorizer, "u", "/::ffff:10.0.0.1").host == "10.0.0.1"

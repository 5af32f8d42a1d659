"""Authorizer: decides by access control lists, as Kafka's StandardAuthorizer does.

A super user may do everything. Among the entries for the resource (its name, ``*``, or a prefix)
and the user, a denying entry decides first, then an allowing one. If the resource has no entry at
all, ``allow.everyone.if.no.acl.found`` decides; otherwise the request is denied.

Being allowed to read, write, delete or alter implies describing; being allowed to alter configs
implies describing configs. A denial implies nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from fencepost_broker.security.authorizer.acls import (
    CLUSTER_NAME,
    WILDCARD,
    Acl,
    AclRecord,
    AclResource,
    Operation,
    Pattern,
    Permission,
    acl_of,
)

_USER: Final = "User:"
_EVERYBODY: Final = "User:*"
_IMPLIED_BY: Final[dict[int, frozenset[int]]] = {
    Operation.DESCRIBE: frozenset(
        {Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER}
    ),
    Operation.DESCRIBE_CONFIGS: frozenset({Operation.ALTER_CONFIGS}),
}
_NOTHING: Final[frozenset[int]] = frozenset()
_REMEMBERED_MAX: Final = 10_000
"""Number of decisions that are kept; clients choose the names, so it is bounded."""
_ANY_NAME: Final = "hardcode"
"""The name that Kafka checks first if any name will do; super users are recognized by it."""

_Question: TypeAlias = tuple[str, str, int, int, str]
"""User, host, operation, resource type and name."""


class Authorizer:
    """Decides what users may do, by the current entries."""

    def __init__(
        self,
        super_users: Iterable[str],
        entries: Callable[[], Iterable[AclRecord]],
        *,
        allows_without_acls: bool,
    ) -> None:
        """``entries`` returns the current entries."""
        self._entries = entries
        self._is_stale = True
        self._super_users = frozenset(super_users)
        self._allows_without_acls = allows_without_acls
        self._by_name: dict[tuple[int, str], list[Acl]] = {}
        """Literal entries."""
        self._by_prefix: dict[tuple[int, str], list[Acl]] = {}
        self._prefix_lengths: dict[int, list[int]] = {}
        """Distinct lengths of prefixes, by resource type."""
        self._decided: dict[_Question, bool] = {}

    def changed(self) -> None:
        """Note that entries have changed; they are read at the next decision."""
        self._is_stale = True

    def _read(self) -> None:
        self._is_stale = False
        self._by_name, self._by_prefix, self._decided = {}, {}, {}
        for acl in map(acl_of, self._entries()):
            is_prefix = acl.pattern_type == Pattern.PREFIXED
            index = self._by_prefix if is_prefix else self._by_name
            index.setdefault((acl.resource_type, acl.resource_name), []).append(acl)
        lengths: dict[int, set[int]] = {}
        for kind, prefix in self._by_prefix:
            lengths.setdefault(kind, set()).add(len(prefix))
        self._prefix_lengths = {kind: sorted(each) for kind, each in lengths.items()}

    def allows(self, user: str, host: str, operation: int, resource_type: int, name: str) -> bool:
        """Return whether a user at an address may do this to a resource."""
        if self._is_stale:
            self._read()
        if user in self._super_users:
            return True
        question = user, host, operation, resource_type, name
        known = self._decided.get(question)
        if known is None:
            if len(self._decided) >= _REMEMBERED_MAX:
                self._decided.clear()
            known = self._decided[question] = self._decide(*question)
        return known

    def _decide(self, user: str, host: str, operation: int, resource_type: int, name: str) -> bool:
        principals = (_USER + user, _EVERYBODY)
        implied_by = _IMPLIED_BY.get(operation, _NOTHING)
        is_known = is_allowed = False
        for acl in self._about(resource_type, name):
            is_known = True
            if acl.principal not in principals or acl.host not in (WILDCARD, host):
                continue
            covers = acl.operation in (Operation.ALL, operation)
            if acl.permission_type == Permission.DENY:
                if covers:
                    return False
            elif covers or acl.operation in implied_by:
                is_allowed = True
        return is_allowed if is_known else self._allows_without_acls

    def _about(self, resource_type: int, name: str) -> Iterator[Acl]:
        yield from self._by_name.get((resource_type, name), ())
        if name != WILDCARD:
            yield from self._by_name.get((resource_type, WILDCARD), ())
        for length in self._prefix_lengths.get(resource_type, ()):
            if length > len(name):
                return
            yield from self._by_prefix.get((resource_type, name[:length]), ())

    def allows_any(self, user: str, host: str, operation: int, resource_type: int) -> bool:
        """Return whether the user may do this to at least one possible resource of the type."""
        if self.allows(user, host, operation, resource_type, _ANY_NAME):
            return True
        principals = (_USER + user, _EVERYBODY)
        found: dict[tuple[int, int], set[str]] = {}
        """Names by permission and pattern type."""
        for index in (self._by_name, self._by_prefix):
            for (kind, name), acls in index.items():
                if kind != resource_type:
                    continue
                for acl in acls:
                    if (
                        acl.principal in principals
                        and acl.host in (WILDCARD, host)
                        and acl.operation in (Operation.ALL, operation)
                    ):
                        key = acl.permission_type, acl.pattern_type
                        found.setdefault(key, set()).add(name)
        denied_names = found.get((Permission.DENY, Pattern.LITERAL), set())
        denied_prefixes = found.get((Permission.DENY, Pattern.PREFIXED), set())
        allowed_names = found.get((Permission.ALLOW, Pattern.LITERAL), set())
        if WILDCARD in denied_names:
            return False
        if WILDCARD in allowed_names:
            return True
        return any(
            not _begins_with_any(name, denied_prefixes) for name in allowed_names - denied_names
        ) or any(
            not _begins_with_any(prefix, denied_prefixes)
            for prefix in found.get((Permission.ALLOW, Pattern.PREFIXED), ())
        )

    def operations(self, user: str, host: str, resource_type: int, name: str, among: int) -> int:
        """Return those operations among a set that a user may do to a resource, as bits."""
        return sum(
            1 << operation
            for operation in Operation
            if among >> operation & 1 and self.allows(user, host, operation, resource_type, name)
        )


def _begins_with_any(name: str, prefixes: set[str]) -> bool:
    return any(name[:length] in prefixes for length in range(1, len(name) + 1))


def _as_java_has_it(address: str) -> str:
    """Return an IPv6 address with all eight numbers, as ACLs for Kafka write it."""
    from ipaddress import IPv6Address

    try:
        parsed = IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return ":".join(f"{int(each, 16):x}" for each in parsed.exploded.split(":"))


class Rights:
    """What one user at one address may do."""

    __slots__ = ("_authorizer", "host", "user")

    def __init__(self, authorizer: Authorizer, user: str, client_host: str) -> None:
        self._authorizer = authorizer
        self.user = user
        host = client_host.removeprefix("/")
        self.host = _as_java_has_it(host) if ":" in host else host

    def may(self, operation: int, resource_type: int, name: str) -> bool:
        """Return whether the user may do this to a resource."""
        return self._authorizer.allows(self.user, self.host, operation, resource_type, name)

    def may_any(self, operation: int, resource_type: int) -> bool:
        """Return whether the user may do this to at least one possible resource of the type."""
        return self._authorizer.allows_any(self.user, self.host, operation, resource_type)

    def operations(self, resource_type: int, name: str, among: int) -> int:
        """Return those operations among a set that the user may do to a resource."""
        return self._authorizer.operations(self.user, self.host, resource_type, name, among)

    def of_cluster(self, operation: int) -> bool:
        """Return whether the user may do this to the cluster."""
        return self.may(operation, AclResource.CLUSTER, CLUSTER_NAME)

    def of_topic(self, operation: int, name: str) -> bool:
        """Return whether the user may do this to a topic."""
        return self.may(operation, AclResource.TOPIC, name)

    def of_group(self, operation: int, group_id: str) -> bool:
        """Return whether the user may do this to a group."""
        return self.may(operation, AclResource.GROUP, group_id)

    def of_transaction(self, operation: int, transactional_id: str) -> bool:
        """Return whether the user may do this to a transactional id."""
        return self.may(operation, AclResource.TRANSACTIONAL_ID, transactional_id)

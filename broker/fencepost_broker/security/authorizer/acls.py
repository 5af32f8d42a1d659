"""Access control lists as requests and records contain them: entries, and filters.

An entry allows or denies a principal at a host an operation on the resources that a pattern names:
one name (LITERAL; ``*`` is every name), or all names with a prefix (PREFIXED, KIP-290).
"""

from enum import IntEnum
from typing import Final, NamedTuple, Protocol

CLUSTER_NAME: Final = "kafka-cluster"
"""Name of the only resource of type CLUSTER."""
WILDCARD: Final = "*"
"""As a literal name: every resource of the type. As a host: every address."""


class AclResource(IntEnum):
    """Type of a protected resource."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class Pattern(IntEnum):
    """How names are compared; ANY and MATCH occur in filters only."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Operation(IntEnum):
    """What a user does; ANY occurs in filters only."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class Permission(IntEnum):
    """Whether an entry allows or denies; ANY occurs in filters only."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


class Acl(NamedTuple):
    """One entry, with numbers as in requests."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class AclRecord(Protocol):
    """Fields of a metadata record about an entry."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


def acl_of(record: AclRecord) -> Acl:
    """Return the entry of a record."""
    return Acl(
        record.resource_type, record.resource_name, record.pattern_type, record.principal,
        record.host, record.operation, record.permission_type,
    )  # fmt: skip


class AclFilter(NamedTuple):
    """Selects entries; ``None`` is any name, principal or host."""

    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str | None
    host: str | None
    operation: int
    permission_type: int

    def matches(self, acl: Acl) -> bool:
        """Return whether the filter selects an entry."""
        return (
            self.resource_type in (AclResource.ANY, acl.resource_type)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission_type in (Permission.ANY, acl.permission_type)
            and self._names(acl)
        )

    def _names(self, acl: Acl) -> bool:
        name = self.resource_name
        if self.pattern_type not in (Pattern.ANY, Pattern.MATCH, acl.pattern_type):
            return False
        if name is None or name == acl.resource_name:
            return True
        if self.pattern_type != Pattern.MATCH:
            return False
        if acl.pattern_type == Pattern.PREFIXED:
            return name.startswith(acl.resource_name)
        return acl.resource_name == WILDCARD

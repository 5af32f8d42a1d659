"""CreateAcls and DeleteAcls: access control lists in the metadata log (KIP-801).

Each entry of a request is decided by itself. An existing entry counts as created and writes
nothing; an entry that two filters select is in both results and deleted once.
"""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from fencepost_protocol.generated.create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from fencepost_protocol.generated.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.remove_access_control_entry_record import (
    RemoveAccessControlEntryRecord,
)

from fencepost_broker.controller.context import Context, Refusal, invalid_request, too_many_records
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.security.authorizer.acls import (
    CLUSTER_NAME,
    Acl,
    AclFilter,
    AclResource,
    Operation,
    Pattern,
    Permission,
    acl_of,
)

_FOR_ENTRIES: Final = {
    "resource type": frozenset(AclResource) - {AclResource.UNKNOWN, AclResource.ANY},
    "pattern type": frozenset({Pattern.LITERAL, Pattern.PREFIXED}),
    "operation": frozenset(Operation) - {Operation.UNKNOWN, Operation.ANY},
    "permission type": frozenset({Permission.DENY, Permission.ALLOW}),
}


def create_acls(context: Context, request: CreateAclsRequest) -> Decision[CreateAclsResponse]:
    """Decide a CreateAcls request."""
    known = {acl_of(record) for record in context.image.acls.by_id.values()}
    results: list[AclCreationResult] = []
    records: list[MetadataRecord] = []
    taken: set[bytes] = set()
    for creation in request.creations:
        try:
            acl = _checked(creation)
        except Refusal as refusal:
            results.append(AclCreationResult(refusal.code, refusal.message))
            continue
        results.append(AclCreationResult(ErrorCode.NONE, ""))
        if acl not in known:
            known.add(acl)
            entry = AccessControlEntryRecord(_new_id(context, taken), *acl)
            records.append(MetadataRecord(entry, 0))
    limit = context.settings.records_per_request_max
    if len(records) > limit:
        refused = too_many_records(limit)
        results = [AclCreationResult(refused.code, refused.message) for _ in results]
        records = []
    return Decision(CreateAclsResponse(results=results), tuple(records))


def delete_acls(context: Context, request: DeleteAclsRequest) -> Decision[DeleteAclsResponse]:
    """Decide a DeleteAcls request."""
    entries = [(acl_id, acl_of(record)) for acl_id, record in context.image.acls.by_id.items()]
    results: list[DeleteAclsFilterResult] = []
    hit: dict[bytes, None] = {}
    for wanted in request.filters:
        result = DeleteAclsFilterResult(ErrorCode.NONE, None)
        results.append(result)
        try:
            acl_filter = _filter(wanted)
        except Refusal as refusal:
            result.error_code, result.error_message = refusal.code, refusal.message
            continue
        for acl_id, acl in entries:
            if acl_filter.matches(acl):
                hit[acl_id] = None
                result.matching_acls.append(DeleteAclsMatchingAcl(ErrorCode.NONE, None, *acl))
    limit = context.settings.records_per_request_max
    if len(hit) > limit:
        refused = too_many_records(limit)
        results = [DeleteAclsFilterResult(refused.code, refused.message) for _ in results]
        hit = {}
    records = (MetadataRecord(RemoveAccessControlEntryRecord(each), 0) for each in hit)
    return Decision(DeleteAclsResponse(filter_results=results), tuple(records))


def _new_id(context: Context, taken: set[bytes]) -> bytes:
    while (found := context.chance.randbytes(16)) in taken or found in context.image.acls.by_id:
        pass
    taken.add(found)
    return found


def _checked(creation: AclCreation) -> Acl:
    acl = Acl(
        creation.resource_type, creation.resource_name, creation.resource_pattern_type,
        creation.principal, creation.host, creation.operation, creation.permission_type,
    )  # fmt: skip
    numbers = acl.resource_type, acl.pattern_type, acl.operation, acl.permission_type
    for (what, allowed), number in zip(_FOR_ENTRIES.items(), numbers, strict=True):
        if number not in allowed:
            named = ", ".join(f"{each.value} ({each.name})" for each in sorted(allowed))
            raise invalid_request(f"an ACL cannot have {what} {number}: use {named}")
    if acl.resource_type == AclResource.CLUSTER and acl.resource_name != CLUSTER_NAME:
        raise invalid_request(f"the resource of type CLUSTER must have the name {CLUSTER_NAME}")
    if not acl.resource_name:
        raise invalid_request("the resource's name is empty: use * for all resources")
    if ":" not in acl.principal:
        raise invalid_request(
            f"the principal {acl.principal!r} has no type: write it as User:{acl.principal}"
        )
    return acl


def _filter(wanted: DeleteAclsFilter) -> AclFilter:
    found = AclFilter(
        wanted.resource_type_filter, wanted.resource_name_filter, wanted.pattern_type_filter,
        wanted.principal_filter, wanted.host_filter, wanted.operation, wanted.permission_type,
    )  # fmt: skip
    for kind, number in (
        (AclResource, found.resource_type),
        (Pattern, found.pattern_type),
        (Operation, found.operation),
        (Permission, found.permission_type),
    ):
        if number not in frozenset(kind):
            raise invalid_request(f"{kind.__name__} {number} in a filter does not exist")
    return found

"""CreateAcls, DescribeAcls and DeleteAcls: access control lists (KIP-801).

Behaviour: the controller decides about changes; DescribeAcls reads this broker's metadata. As in
Kafka, all three answer SECURITY_DISABLED without an authorizer, and a type, pattern, operation or
permission of 0 closes the connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from fencepost_protocol.generated.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from fencepost_protocol.generated.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.security.authorizer.acls import AclFilter, acl_of

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext
    from fencepost_broker.metadata.image.metadata_image import MetadataImage

_NO_AUTHORIZER = "there is no authorizer: set authorizer.class.name to have one"


def create_acls(context: HandlerContext, request: Request, message: CreateAclsRequest) -> Answer:
    """Answer CreateAcls, versions 1 to 3."""
    for each in message.creations:
        _check_known(
            request, each.resource_type, each.resource_pattern_type, each.operation,
            each.permission_type,
        )  # fmt: skip
    if not context.config.settings.authorizer_class_name:
        results = [
            AclCreationResult(ErrorCode.SECURITY_DISABLED, _NO_AUTHORIZER)
            for _ in message.creations
        ]
        return CreateAclsResponse(results=results)
    answer: Message = context.controller.command(message)
    return answer


def delete_acls(context: HandlerContext, request: Request, message: DeleteAclsRequest) -> Answer:
    """Answer DeleteAcls, versions 1 to 3."""
    for each in message.filters:
        _check_known(
            request, each.resource_type_filter, each.pattern_type_filter, each.operation,
            each.permission_type,
        )  # fmt: skip
    if not context.config.settings.authorizer_class_name:
        refused = [
            DeleteAclsFilterResult(ErrorCode.SECURITY_DISABLED, _NO_AUTHORIZER)
            for _ in message.filters
        ]
        return DeleteAclsResponse(filter_results=refused)
    answer: Message = context.controller.command(message)
    return answer


def describe_acls(
    context: HandlerContext, request: Request, message: DescribeAclsRequest
) -> Answer:
    """Answer DescribeAcls, versions 1 to 3."""
    _check_known(
        request, message.resource_type_filter, message.pattern_type_filter, message.operation,
        message.permission_type,
    )  # fmt: skip
    if not context.config.settings.authorizer_class_name:
        return DescribeAclsResponse(
            error_code=ErrorCode.SECURITY_DISABLED, error_message=_NO_AUTHORIZER
        )
    return described_acls(context.image, message)


def described_acls(image: MetadataImage, message: DescribeAclsRequest) -> DescribeAclsResponse:
    """Build the response from a metadata image."""
    wanted = AclFilter(
        message.resource_type_filter, message.resource_name_filter, message.pattern_type_filter,
        message.principal_filter, message.host_filter, message.operation, message.permission_type,
    )  # fmt: skip
    found: dict[tuple[int, str, int], DescribeAclsResource] = {}
    for acl in sorted(acl_of(record) for record in image.acls.by_id.values()):
        if wanted.matches(acl):
            resource = found.setdefault(acl[:3], DescribeAclsResource(*acl[:3]))
            resource.acls.append(AclDescription(*acl[3:]))
    return DescribeAclsResponse(error_message="", resources=list(found.values()))


def _check_known(request: Request, *numbers: int) -> None:
    if 0 in numbers:
        raise RemoteProtocolError(
            "a type, pattern, operation or permission of 0 is invalid",
            api="ACLs",
            version=request.version,
        )

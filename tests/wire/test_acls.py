"""CreateAcls, DescribeAcls and DeleteAcls over the wire."""

from __future__ import annotations

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from fencepost_protocol.generated.describe_acls import DescribeAclsRequest

from tests.support.broker import running_broker

pytestmark = pytest.mark.asyncio

EVERY = (1, None, 1, None, None, 1, 1)
READ = (2, "t", 3, "User:a", "*", 3, 3)


async def test_without_an_authorizer_there_are_none() -> None:
    disabled = ErrorCode.SECURITY_DISABLED
    async with running_broker() as broker:
        described = await broker.ask(DescribeAclsRequest(*EVERY), 3)
        created = await broker.ask(CreateAclsRequest([AclCreation(*READ)] * 2), 3)
        deleted = await broker.ask(DeleteAclsRequest([DeleteAclsFilter(*EVERY)]), 3)
    assert (described.error_code, described.resources) == (disabled, [])
    assert [each.error_code for each in created.results] == [disabled] * 2
    assert [each.error_code for each in deleted.filter_results] == [disabled]

"""Addresses and host names in quotas of addresses and in ACLs, and what they do."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from fencepost_broker.security.authorizer.acls import AclResource
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_client_quotas import AlterClientQuotasRequest
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from fencepost_protocol.generated.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)

from tests.support.broker import Client
from tests.support.client_quotas import entry
from tests.support.logins import connected
from tests.support.secure_kafka import PASSWORD, USER
from tests.support.waiting import asked_until

_CONNECTIONS: Final = "connection_creation_rate"
_MANY: Final = 30
"""More connections than a quota of one a second allows at once."""
_ELSEWHERE: Final = (
    "::1", "[::1]", "0:0:0:0:0:0:0:1", "0::0001", "::1%1", "::ffff:10.0.0.1", "1", "10.1",
    "127.1.2", "127.0.0.2", "256.0.0.1",
    "127.0.0.1.1", "127.0.0.", "1.2.3.", "4294967296", "0x7f.1", "a b",
    "*", "<default>", "host.invalid", "[127.0.0.1]", "[localhost]", ":1", ":::",
)  # fmt: skip
_HERE: Final = (
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "::ffff:127.0.0.1", "localhost", "LOCALHOST"
)  # fmt: skip

_OF_ACLS: Final = (
    "*", "127.0.0.1", "127.1", "::ffff:127.0.0.1", "localhost", "a b", "0.0.0.0", ""
)  # fmt: skip
_USER, _CREATE = f"User:{USER}", 5


async def of_quotas(bootstrap: str) -> list[str]:
    """Which names an ``ip`` may have, and whether its quota limits the script's own address."""
    lines = []
    async with Client(bootstrap) as client:
        for name in (*_ELSEWHERE, *_HERE):
            answer = await _limit(client, name, 1.0)
            code = ErrorCode(answer.error_code).name
            if answer.error_code:
                lines.append(f"{name}: {code}")
                continue
            [told] = await _known(client, name, 1)
            as_given = "as given" if told.entity[0].entity_name == name else "as another"
            limits = "limits" if await _is_limited(bootstrap) else "does not limit"
            lines.append(f"{name}: {code}, told {as_given}, {limits}")
            assert not (await _limit(client, name, None)).error_code
            await _known(client, name, 0)
    return lines


async def _limit(client: Client, name: str, rate: float | None) -> Any:
    request = AlterClientQuotasRequest([entry([("ip", name)], **{_CONNECTIONS: rate})])
    return (await client.ask(request, 1)).entries[0]


async def _known(client: Client, name: str, count: int) -> list[Any]:
    """Wait until the broker has so many quotas of this name, which it applies after an answer."""
    found: list[Any] = []

    async def is_so() -> bool:
        request = DescribeClientQuotasRequest([ComponentData("ip", 0, name)], False)
        found[:] = (await client.ask(request, 1)).entries
        return len(found) == count

    await asked_until(is_so)
    return found


async def _is_limited(bootstrap: str) -> bool:
    async def is_closed() -> bool:
        try:
            async with Client(bootstrap) as client:
                await client.ask(ApiVersionsRequest("a", "1"), 3)
        except (OSError, EOFError):
            return True
        return False

    return any(await asyncio.gather(*(is_closed() for _ in range(_MANY))))


async def of_acls(bootstrap: str, login: str) -> list[str]:
    """Which hosts an ACL may have, and whether it is one for the script's own address."""
    lines = []
    async with Client(bootstrap) as client:
        for host in _OF_ACLS:
            creation = AclCreation(AclResource.CLUSTER, "kafka-cluster", 3, _USER, host, _CREATE, 3)
            [made] = (await client.ask(CreateAclsRequest([creation]), 3)).results
            told = ErrorCode(made.error_code).name
            if not made.error_code:
                chosen = DeleteAclsFilter(AclResource.CLUSTER, None, 3, _USER, host, _CREATE, 3)
                told += ", allows" if await _may_create(login) else ", does not allow"
                [gone] = (await client.ask(DeleteAclsRequest([chosen]), 3)).filter_results
                told += f", {len(gone.matching_acls)} removed"
            lines.append(f"{host or 'an empty text'}: {told}")
    return lines


async def _may_create(login: str) -> bool:
    async with connected(login) as peer:
        await peer.handshake("PLAIN")
        await peer.token(f"\0{USER}\0{PASSWORD}".encode())
        request = CreateTopicsRequest([CreatableTopic("orders", 1, 1)], 10_000, True)
        [topic] = (await peer.ask(request, 7)).topics
        return not topic.error_code

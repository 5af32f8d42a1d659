"""Clients that are slowed down, refused, or sent to the wrong broker."""

from __future__ import annotations

import asyncio
from typing import Final

from fencepost_client import Admin, QuotaEntity, QuotaName
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import TOPIC, Connection

_ACLS: Final = 1
"""Version of requests."""
_NO_BROKER: Final = 99
QUOTA: Final = 1_000
"""Bytes a second."""
_TOPIC, _LITERAL, _WRITE, _DENY = 2, 3, 4, 2
_USER: Final = "User:ANONYMOUS"


async def _wrong_leader(broker: AnyBroker, tell: Tell) -> Facts:
    wrong = broker.faults.change_answer(
        {"topics[].partitions[].leader_id": _NO_BROKER}, api="Metadata", times=2
    )
    async with Connection(broker) as connection:
        leaders = [int((await connection.partition()).leader_id) for _ in range(3)]
        tell(f"Metadata name broker {_NO_BROKER} as the leader, which is not in the cluster.")
        tell(f"A client asks three times; the answers name {', '.join(map(str, leaders))}.")
        sent = await connection.produce(b"order")
        tell(f"It sends its record to the last one ({sent}).")
        return {
            "first_leader": leaders[0],
            "lies": wrong.fired,
            "leader": leaders[-1],
            "send": sent,
            "end_offset": await connection.end_offset(),
        }


async def take_right_away(connection: Connection) -> None:
    """Deny clients to write to the topic."""
    acl = AclCreation(_TOPIC, TOPIC, _LITERAL, _USER, "*", _WRITE, _DENY)
    await connection.ask(CreateAclsRequest([acl]), _ACLS)


async def _denied(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        before = await connection.produce(b"before")
        tell(f"A client may write to the topic ({before}).")
        await take_right_away(connection)
        denied = await connection.produce(b"denied")
        tell(
            f"An ACL takes that right away: the next record gets {denied}, on the same connection."
        )
        away = DeleteAclsFilter(_TOPIC, TOPIC, _LITERAL, _USER, "*", _WRITE, _DENY)
        await connection.ask(DeleteAclsRequest([away]), _ACLS)
        after = await connection.produce(b"after")
        tell(f"The ACL is deleted, and the client writes again ({after}).")
        return {
            "before": before,
            "denied": denied,
            "after": after,
            "end_offset": await connection.end_offset(),
        }


async def set_quota(broker: AnyBroker, bytes_per_second: float) -> None:
    """Give each client id a quota for what it sends."""
    async with Admin(broker.bootstrap) as admin:
        await admin.alter_client_quotas(
            {QuotaEntity(client_id=QuotaName.DEFAULT): {"producer_byte_rate": bytes_per_second}}
        )


async def _throttled(broker: AnyBroker, tell: Tell) -> Facts:
    await set_quota(broker, QUOTA)
    async with Connection(broker) as connection:
        answer = await connection.produce_answer(b"x" * 15_000)
        code = ErrorCode(answer.responses[0].partition_responses[0].error_code).name
        pause_ms = int(answer.throttle_time_ms)
        tell(
            f"A client with a quota of {QUOTA} bytes a second sends 15,000. They are written"
            f" ({code}); the answer asks for a pause of {pause_ms} ms."
        )
        late = asyncio.ensure_future(connection.produce(b"late"))
        async with Connection(broker) as other:
            before = await other.end_offset()
            tell("It sends the next record at once, and the broker does not read it: KIP-219.")
            broker.clock.advance(ms=pause_ms)
            next_code = await late
            tell(f"The pause is over, and the record is written ({next_code}).")
            return {
                "send": code,
                "throttle_time_ms": pause_ms,
                "end_offset_in_the_pause": before,
                "next_send": next_code,
                "end_offset": await other.end_offset(),
            }


WRONG_LEADER: Final = Scenario(
    name="metadata-that-lies",
    summary="Metadata name the wrong leader for a while",
    seen="Sends and reads take longer: clients ask for metadata again, with a pause each time"
    " (retry.backoff.ms). A client with short time-outs fails.",
    clients="All clients, for a moment after a leader has moved or a broker has left.",
    remedy="Time-outs that outlast it; with KIP-951, an error of Produce and Fetch names the new"
    " leader.",
    kip="KIP-951",
    run=_wrong_leader,
)
DENIED: Final = Scenario(
    name="acl-taken-away",
    summary="A right is taken away while a client works",
    seen="TOPIC_AUTHORIZATION_FAILED in the middle of the work; the connection stays open.",
    clients="All clients: each request is checked, not only the login.",
    remedy="Grant the right again; close a producer that has failed, and create a new one.",
    settings={
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": True,
    },
    run=_denied,
)
THROTTLED: Final = Scenario(
    name="throttled-client",
    summary="A broker asks a client to pause",
    seen="Sends are slow, and delivery.timeout.ms may end; no error says why.",
    clients="All clients with a quota. Those that ignore ThrottleTimeMs (aiokafka) are made to wait"
    " by the broker, which does not read from them (KIP-219).",
    remedy="A larger quota (kafka-configs --alter --add-config producer_byte_rate=...), or"
    " fewer bytes: compression, larger batches.",
    kip="KIP-219",
    run=_throttled,
)

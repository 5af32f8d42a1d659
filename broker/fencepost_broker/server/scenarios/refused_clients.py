"""Clients that are slowed down, refused, or sent to the wrong broker."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest

from fencepost_broker.server.embedded.broker import Broker
from fencepost_broker.server.scenarios.scenario import Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import TOPIC, Connection

_ACLS: Final = 1
"""Version of requests."""
_TOPIC, _LITERAL, _WRITE, _DENY = 2, 3, 4, 2
_USER: Final = "User:ANONYMOUS"


async def _wrong_leader(broker: Broker, tell: Tell) -> Facts:
    wrong = broker.faults.error("NOT_LEADER_OR_FOLLOWER", api="Produce", times=2)
    async with Connection(broker) as connection:
        tell("Metadata name a leader that leads no more, until they are asked for twice again.")
        answers = [await connection.produce(b"order") for _ in range(3)]
        tell(f"A producer sends a record three times: {', '.join(answers)}.")
        return {
            "first": answers[0],
            "refused": wrong.fired,
            "last": answers[-1],
            "end_offset": await connection.end_offset(),
        }


async def _denied(broker: Broker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        before = await connection.produce(b"before")
        tell(f"A client may write to the topic ({before}).")
        acl = AclCreation(_TOPIC, TOPIC, _LITERAL, _USER, "*", _WRITE, _DENY)
        await connection.ask(CreateAclsRequest([acl]), _ACLS)
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


async def _throttled(broker: Broker, tell: Tell) -> Facts:
    slow = broker.faults.throttle(5_000, api="Produce", times=1)
    async with Connection(broker) as connection:
        answer = await connection.produce_answer(b"order")
        code = ErrorCode(answer.responses[0].partition_responses[0].error_code).name
        tell(f"A record is written ({code}); the answer asks for a pause of"
             f" {answer.throttle_time_ms} ms, as a quota does.")  # fmt: skip
        tell("The client sends nothing to this broker until the time is over.")
        return {
            "send": code,
            "throttle_time_ms": int(answer.throttle_time_ms),
            "throttled": slow.fired,
            "end_offset": await connection.end_offset(),
        }


WRONG_LEADER: Final = Scenario(
    name="metadata-that-lies",
    summary="Metadata name the wrong leader for a while",
    seen="Sends take longer; nothing is lost. With retries=0 they fail: NOT_LEADER_OR_FOLLOWER.",
    clients="All clients after a leader has moved: they ask for metadata again, with a pause each"
    " time (retry.backoff.ms).",
    remedy="Retries; KIP-951 sends the new leader with the error.",
    kip="KIP-951",
    run=_wrong_leader,
)
DENIED: Final = Scenario(
    name="acl-taken-away",
    summary="A right is taken away while a client works",
    seen="TOPIC_AUTHORIZATION_FAILED in the middle of the work; the connection stays open.",
    clients="All clients: each request is checked, not only the login.",
    remedy="Give the right back; a producer that has failed may be closed and made anew.",
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
    clients="All clients with a quota. Those that ignore ThrottleTimeMs are made to wait by the"
    " broker, which does not read from them (KIP-219).",
    remedy="A larger quota (kafka-configs --alter --add-config producer_byte_rate=...), or"
    " fewer bytes: compression, larger batches.",
    kip="KIP-219",
    run=_throttled,
)

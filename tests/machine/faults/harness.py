"""Rules without a server: requests are made by hand, and time is a number."""

from __future__ import annotations

import random
from typing import Any, cast

from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.request import Request
from fencepost_broker.config.sources.structs import convert
from fencepost_broker.faults.compiled import Arrived
from fencepost_broker.faults.rule import Rule
from fencepost_broker.faults.rules import FaultRules, LoadedRule
from fencepost_broker.operations import AnyOperation
from fencepost_broker.ports import RemoteClient
from fencepost_protocol.apis import Message
from fencepost_protocol.framing import api_key_of, encode_request, read_request_head
from fencepost_protocol.generated.heartbeat import HeartbeatRequest

BY_KEY = {api.key.value: api for api in SERVED}


class Peer:
    """A connection, as far as rules look at it."""

    listener = "PLAINTEXT"
    client_host = "/10.0.0.1"
    user = "alice"
    client_software_name = "librdkafka"
    client_software_version = "2.6"
    client = RemoteClient("10.0.0.1:5000")


class States:
    """What rules ask the broker about."""

    node_id = 3

    def __init__(self) -> None:
        self.states: dict[tuple[str, str], str] = {}
        self.names: dict[bytes, str] = {}
        self.sessions: dict[int, list[tuple[str | bytes, int]]] = {}

    def state_of(self, kind: str, name: str) -> str | None:
        return self.states.get((kind, name))

    def topic_name(self, topic_id: bytes) -> str | None:
        return self.names.get(topic_id)

    async def perform(self, operation: AnyOperation) -> None:
        raise NotImplementedError

    def fetched(self, session_id: int) -> list[tuple[str | bytes, int]]:
        return self.sessions.get(session_id, [])


class Rules:
    """The rules of a broker that is not there."""

    def __init__(self) -> None:
        self.now_ms = 1_000
        self.states = States()
        self.all = FaultRules(SERVED, lambda: self.now_ms, random.Random, self.states)

    def add(self, **given: Any) -> LoadedRule:
        """Add a rule, as from JSON; what it does is of no interest unless given."""
        return self.all.add(convert({"act": {"type": "drop-answer"}, **given}, Rule))[0]

    def arrived(self, message: Message, version: int | None = None) -> Arrived:
        key = api_key_of(message)
        known = message.MAX_VERSION if version is None else version
        frame = memoryview(bytes(encode_request(message, known, 7, "c"))[4:])
        *_, body = read_request_head(frame)
        request = Request(cast("Any", Peer()), key, known, 7, "c", frame, body)
        return Arrived(BY_KEY[key], request, message, self.states)

    def fired(self, message: Message | None = None, version: int | None = None) -> list[str]:
        """The names of the rules that fire on a request."""
        arrived = self.arrived(message or HeartbeatRequest("g", 1, "m"), version)
        return [each.name for each in self.all.match(arrived)]

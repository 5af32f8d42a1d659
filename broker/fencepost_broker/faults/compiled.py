"""A rule made ready: checked against the APIs, with its conditions read."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from operator import attrgetter
from typing import Any, Final, NamedTuple, Protocol

from fencepost_protocol.apis import request_class, response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import FetchRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.index import APIS
from fencepost_protocol.primitives import ZERO_UUID
from fencepost_protocol.schema.files import load

from fencepost_broker.apis.error_responses import has_error
from fencepost_broker.apis.request import Request
from fencepost_broker.apis.served import Served, not_read
from fencepost_broker.coordinator.runtime.steps import check_step
from fencepost_broker.coordinator.transaction.states import NAMES as TRANSACTION_STATES
from fencepost_broker.faults.entities import (
    ENTITIES,
    NameOf,
    has_entity,
    topic_lists,
    values_of,
)
from fencepost_broker.faults.paths import Condition, Path, PathError, error_of, near_name
from fencepost_broker.faults.rule import (
    ChangeAnswer,
    ChangeRequest,
    Error,
    Match,
    Rule,
    Run,
    Throttle,
)
from fencepost_broker.operations import AnyOperation, CrashAtStep, OperationRefusedError

_WHILE: Final = re.compile(r"(transaction|group)(?::(.+))?=(\w+)")
_STATES: Final[dict[str, list[str]]] = {
    "transaction": list(TRANSACTION_STATES.values()),
    "group": [
        "Empty", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "Stable",
        "Dead",
    ],
}  # fmt: skip
_OF_KIND: Final = {"transaction": "transactional_id", "group": "group"}
_KEY_KINDS: Final = ("group", "transactional_id")
"""The kinds of keys of FindCoordinator, in the order of their numbers."""


class RuleError(ValueError):
    """A rule that cannot work: what is wrong, where, and the nearest right name."""


class States(Protocol):
    """What rules may ask the broker about."""

    def state_of(self, kind: str, name: str) -> str | None:
        """Return the state of a transaction or a group; ``None`` if it is not here."""

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of the topic with an id."""

    def fetched(self, session_id: int) -> list[tuple[str | bytes, int]]:
        """Return the topics, by name or id, and partitions of a fetch session."""

    async def perform(self, operation: AnyOperation) -> None:
        """Perform an operation; raises ``OperationRefusedError`` if it cannot work."""

    @property
    def node_id(self) -> int:
        """The broker's node id."""


class _NoStates:
    node_id = -1

    def state_of(self, kind: str, name: str) -> str | None:
        del kind, name
        return None

    def topic_name(self, topic_id: bytes) -> str | None:
        del topic_id
        return None

    def fetched(self, session_id: int) -> list[tuple[str | bytes, int]]:
        del session_id
        return []

    async def perform(self, operation: AnyOperation) -> None:
        del operation
        raise OperationRefusedError("a controller by itself performs no operations")


NO_STATES: Final[States] = _NoStates()


class Arrived:
    """A request that rules may match."""

    __slots__ = ("_entries", "api", "message", "request", "states")

    def __init__(self, api: Served, request: Request, message: Any, states: States) -> None:
        self.api = api
        self.request = request
        self.message = message
        self.states = states
        self._entries: list[tuple[str, int | None]] | None = None

    @property
    def name(self) -> str:
        """The API's name."""
        return api_name(self.api)

    @property
    def connection(self) -> str:
        """The client's end of the connection, ``HOST:PORT``."""
        return self.request.peer.client.address

    @property
    def topic_names(self) -> set[str]:
        """The names of the topics in the request."""
        return {topic for topic, _ in self.entries}

    @property
    def entries(self) -> list[tuple[str, int | None]]:
        """The topics of the request with their partitions, or with ``None`` in place of them."""
        if self._entries is None:
            self._entries = list(self._find_entries())
        return self._entries

    def _find_entries(self) -> Iterator[tuple[str, int | None]]:
        name_of: NameOf = self.states.topic_name
        for shape in topic_lists(self.message.NAME):
            for _, elements in shape.lists(self.message):
                for element in elements:
                    topic = shape.name_of(element, name_of)
                    if topic is None:
                        continue
                    indexes = shape.indexes_of(element)
                    if indexes is None:
                        yield topic, None
                    else:
                        for index in indexes:
                            yield topic, index
        if isinstance(self.message, FetchRequest) and self.message.session_id:
            for topic_key, index in self.states.fetched(self.message.session_id):
                found = topic_key if isinstance(topic_key, str) else name_of(topic_key)
                if found is not None:
                    yield found, index

    def values(self, entity: str) -> Iterator[Any]:
        """Yield the ids of groups, members, transactions or producers in the request."""
        message = self.message
        if isinstance(message, FindCoordinatorRequest):
            if entity in _KEY_KINDS and message.key_type == _KEY_KINDS.index(entity):
                yield from message.coordinator_keys or [message.key]
            return
        yield from values_of(message.NAME, entity, message)

    def shown(self) -> Any:
        """Return the message without secrets."""
        hide, request = self.api.hides_in_request, self.request
        if hide is None:
            return self.message
        message = decoded(self.api, request)
        hide(message)
        return message


def topic_test(request: str, topics: Container[str], states: States) -> Callable[[Any], bool]:
    """Return a fast test whether a request's message has one of these topics."""
    shapes = topic_lists(request)
    if any(shape.outer or not shape.topic for shape in shapes):
        return lambda _: True
    name_of, fetched = states.topic_name, states.fetched
    readers = [
        (
            attrgetter(shape.name),
            attrgetter(shape.topic),
            attrgetter(shape.topic_id) if shape.topic_id else None,
        )
        for shape in shapes
    ]
    has_session = request == FetchRequest.NAME

    def test(message: Any) -> bool:
        for list_of, topic_of, id_of in readers:
            for element in list_of(message) or ():
                if id_of is not None and (topic_id := id_of(element)) != ZERO_UUID:
                    name = name_of(bytes(topic_id))
                else:
                    name = topic_of(element)
                if name in topics:
                    return True
        if has_session and message.session_id:
            for key, _ in fetched(message.session_id):
                if (key if isinstance(key, str) else name_of(key)) in topics:
                    return True
        return False

    return test


def decoded(api: Served, request: Request) -> Any:
    """Decode a request, also one whose handler takes it as it is."""
    decode = api.decode
    if decode is None or decode is not_read:
        decode = request_class(api.key).decode
    message, _ = decode(request.frame, request.version, request.body)
    return message


Test = Callable[[Arrived], bool]


class Compiled(NamedTuple):
    """What has to hold for a request, besides its API."""

    api_keys: tuple[int, ...]
    """The APIs that the rule is for."""
    tests: tuple[Test, ...]
    code: ErrorCode = ErrorCode.NONE
    """The error of an act that has one."""
    values: tuple[tuple[Path, Any], ...] = ()
    """The fields that an act changes."""

    def matches(self, arrived: Arrived) -> bool:
        """Whether all tests hold."""
        return all(test(arrived) for test in self.tests)


def compile_rule(rule: Rule, served: Mapping[str, Served], states: States) -> Compiled:
    """Check a rule and make it ready; raises ``RuleError`` if it cannot work."""
    try:
        apis = _apis(rule.match, served)
        code, values = _of_act(rule, apis)
        tests = tuple(_tests(rule, apis, states))
    except PathError as error:
        raise RuleError(f"{rule.name}: {error}") from None
    return Compiled(tuple(api.key.value for api in apis), tests, code, values)


def _apis(match: Match, served: Mapping[str, Served]) -> list[Served]:
    entities = [
        each for each in ("topic", "partition", *ENTITIES) if getattr(match, each) is not None
    ]
    if match.api is None:
        if match.where:
            raise PathError("where: conditions on fields need an api")
        return [api for api in served.values() if all(_has(api, each) for each in entities)]
    if match.api not in served:
        raise PathError(
            f"api: this broker does not serve {match.api!r}{near_name(match.api, served)}"
        )
    api = served[match.api]
    low, high = api.versions
    for name, version in (("min_version", match.min_version), ("max_version", match.max_version)):
        if version is not None and not low <= version <= high:
            raise PathError(f"{name}: {match.api} has versions {low} to {high}")
    for each in entities:
        if not _has(api, each):
            raise PathError(f"{each}: a {match.api} request has none")
    return [api]


def _has(api: Served, entity: str) -> bool:
    request = request_class(api.key)
    if request is FindCoordinatorRequest:
        return entity in _KEY_KINDS
    return has_entity(request.NAME, entity)


def _of_act(rule: Rule, apis: list[Served]) -> tuple[ErrorCode, tuple[tuple[Path, Any], ...]]:
    act, code = rule.act, ErrorCode.NONE
    if isinstance(act, Error):
        code = error_of(act.code)
        if rule.match.api is not None and not has_error(response_class(apis[0].key)):
            raise PathError(f"act: an answer to {rule.match.api} has no error code")
    if isinstance(act, Run) and isinstance(act.operation, CrashAtStep):
        try:
            check_step(act.operation.step)
        except ValueError as error:
            raise PathError(f"act: {error}") from None
    if isinstance(act, Throttle) and rule.match.api is not None:
        answer = response_class(apis[0].key)
        if "throttle_time_ms" not in answer.__slots__:  # type: ignore[attr-defined]
            raise PathError(f"act: an answer to {rule.match.api} has no ThrottleTimeMs")
    if not isinstance(act, ChangeRequest | ChangeAnswer):
        return code, ()
    if rule.match.api is None:
        raise PathError("act: changes of fields need an api in the match")
    kinds = request_class if isinstance(act, ChangeRequest) else response_class
    schema = load(kinds(apis[0].key).NAME)
    values = []
    for text, given in act.set.items():
        path = Path.read(text, schema)
        values.append((path, path.read_value(given)))
    return code, tuple(values)


def _tests(rule: Rule, apis: list[Served], states: States) -> Iterator[Test]:
    match = rule.match
    low, high = match.min_version, match.max_version
    if low is not None:
        yield lambda arrived: arrived.request.version >= low
    if high is not None:
        yield lambda arrived: arrived.request.version <= high
    if match.client_id is not None:
        yield lambda arrived: arrived.request.client_id == match.client_id
    if match.client_software is not None:
        yield lambda arrived: arrived.request.peer.client_software_name == match.client_software
    if match.user is not None:
        yield lambda arrived: arrived.request.peer.user == match.user
    if match.address is not None:
        yield lambda arrived: arrived.request.peer.client_host == f"/{match.address}"
    if match.connection is not None:
        yield lambda arrived: arrived.connection == match.connection
    if match.listener is not None:
        yield lambda arrived: arrived.request.peer.listener == match.listener
    if match.broker is not None:
        yield lambda arrived: arrived.states.node_id == match.broker
    if match.topic is not None or match.partition is not None:
        yield lambda arrived: any(is_entry(match, *entry) for entry in arrived.entries)
    for entity in ENTITIES:
        wanted = getattr(match, entity)
        if wanted is not None:
            yield _names(entity, wanted)
    for text in match.where:
        condition = Condition.read(text, load(request_class(apis[0].key).NAME))
        yield _holds(condition)
    if rule.while_ is not None:
        yield _state_holds(rule.while_, states)


def is_entry(match: Match, topic: str, partition: int | None) -> bool:
    """Whether a match is for a topic and a partition of a request."""
    if match.topic is not None and topic != match.topic:
        return False
    return match.partition is None or partition is None or partition == match.partition


def _names(entity: str, wanted: Any) -> Test:
    return lambda arrived: wanted in arrived.values(entity)


def _holds(condition: Condition) -> Test:
    return lambda arrived: condition.holds(arrived.message)


def _state_holds(text: str, states: States) -> Test:
    match = _WHILE.fullmatch(text)
    if match is None:
        raise PathError(
            f"while: {text!r:.100} is not transaction=STATE, group=STATE, or with an id:"
            " transaction:ID=STATE"
        )
    kind, given, wanted = match[1], match[2], match[3]
    if wanted not in _STATES[kind]:
        near = near_name(wanted, _STATES[kind])
        raise PathError(f"while: a {kind} has no state {wanted!r}{near}")

    def holds(arrived: Arrived) -> bool:
        names = [given] if given is not None else arrived.values(_OF_KIND[kind])
        return any(states.state_of(kind, str(name)) == wanted for name in names if name)

    return holds


def api_name(api: Served) -> str:
    """Return the name of an API, as Kafka and rules write it: ``EndTxn``."""
    return APIS[api.key][0]

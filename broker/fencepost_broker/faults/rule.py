"""A fault rule as users write it, in JSON, TOML or Python.

JSON, TOML, the JSON schema, the OpenAPI document and the options of ``fencepost fault`` are derived
from these types.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta, Struct, field

from fencepost_broker.operations import AnyOperation

SHARE_MAX: Final = 1.0
MS_MAX: Final = 7 * 24 * 3_600_000
"""The longest delay, a week."""
NAME_MAX: Final = 200
VALUE_MAX: Final = 1 << 20

Name: TypeAlias = Annotated[str, Meta(max_length=NAME_MAX)]
Text: TypeAlias = Annotated[str, Meta(max_length=32_767)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=(1 << 53))]
Times: TypeAlias = Annotated[int, Meta(ge=1, le=(1 << 53))]
Version: TypeAlias = Annotated[int, Meta(ge=0, le=32_767)]
Milliseconds: TypeAlias = Annotated[int, Meta(ge=0, le=MS_MAX)]


class Match(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """Which requests a rule is for: those that have all that is given here; ``{}`` is every one."""

    api: Annotated[Name | None, Meta(description="API, by Kafka's name: Produce")] = None
    min_version: Annotated[Version | None, Meta(description="lowest version of the API")] = None
    max_version: Annotated[Version | None, Meta(description="highest version of the API")] = None
    client_id: Annotated[Text | None, Meta(description="client.id")] = None
    client_software: Annotated[
        Text | None, Meta(description="client library, as it names itself: librdkafka")
    ] = None
    user: Annotated[Text | None, Meta(description="user that is logged in")] = None
    address: Annotated[Text | None, Meta(description="client's IP address")] = None
    connection: Annotated[
        Text | None, Meta(description="client's end of one connection, HOST:PORT")
    ] = None
    listener: Annotated[Text | None, Meta(description="listener that the client uses")] = None
    broker: Annotated[int | None, Meta(description="broker that is asked, by its node id")] = None
    topic: Annotated[Text | None, Meta(description="topic that the request names")] = None
    partition: Annotated[Count | None, Meta(description="partition of a topic")] = None
    group: Annotated[Text | None, Meta(description="group id")] = None
    member: Annotated[Text | None, Meta(description="member id in a group")] = None
    transactional_id: Annotated[Text | None, Meta(description="transactional id")] = None
    producer_id: Annotated[int | None, Meta(description="producer id")] = None
    producer_epoch: Annotated[int | None, Meta(description="producer epoch")] = None
    where: Annotated[
        list[Text],
        Meta(
            max_length=20,
            description="conditions on the request's fields, by their paths in the schema:"
            ' "topics[].partitions[].index == 3"',
        ),
    ] = field(default_factory=list)


class Act(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="type"):
    """What happens to a request that matches."""

    @property
    def type(self) -> str:
        """Its name in JSON: ``drop-answer``."""
        return str(self.__struct_config__.tag)


Values: TypeAlias = Annotated[
    dict[str, Any],
    Meta(min_length=1, description='values by the paths of fields: {"responses[].name": "x"}'),
]
Side: TypeAlias = Literal["request", "answer"]


class Error(Act, tag="error"):
    """Answer with an error.

    The request is not carried out. If the match has a topic or a partition, those elements alone
    are refused, and the rest of the request is carried out.
    """

    code: Annotated[Name, Meta(description="error, by Kafka's name: NOT_LEADER_OR_FOLLOWER")]
    message: Annotated[Text | None, Meta(description="text for the answer")] = None
    apply: Annotated[
        bool, Meta(description="carry out the request, and answer with the error all the same")
    ] = False


class ChangeRequest(Act, tag="change-request"):
    """Change fields of the request before it is carried out."""

    set: Values


class ChangeAnswer(Act, tag="change-answer"):
    """Change fields of the answer before it is sent."""

    set: Values


class Delay(Act, tag="delay"):
    """Carry out the request later, or send its answer later."""

    ms: Annotated[Milliseconds, Meta(description="how long, in milliseconds")]
    spread_ms: Annotated[Milliseconds, Meta(description="up to so much more, by chance")] = 0
    what: Annotated[Side, Meta(description="what is late")] = "request"


class Hold(Act, tag="hold"):
    """Hold the request, or its answer, until it is released or the rule is removed."""

    what: Annotated[Side, Meta(description="what is held")] = "request"


def _check_drop(*, silently: bool, reset: bool) -> None:
    if silently and reset:
        raise ValueError("silently leaves the connection open, and reset closes it: choose one")


class DropRequest(Act, tag="drop-request"):
    """Do not carry out the request; the client sees its connection closed."""

    silently: Annotated[
        bool, Meta(description="leave the connection open: the client waits for its own time-out")
    ] = False
    reset: Annotated[bool, Meta(description="close it with a TCP reset (RST)")] = False

    def __post_init__(self) -> None:
        _check_drop(silently=self.silently, reset=self.reset)


class DropAnswer(Act, tag="drop-answer"):
    """Carry out the request and send no answer; the client sees its connection closed."""

    silently: Annotated[
        bool, Meta(description="leave the connection open: the client waits for its own time-out")
    ] = False
    reset: Annotated[bool, Meta(description="close it with a TCP reset (RST)")] = False

    def __post_init__(self) -> None:
        _check_drop(silently=self.silently, reset=self.reset)


class RepeatAnswer(Act, tag="repeat-answer"):
    """Send the answer twice."""


class ReorderAnswer(Act, tag="reorder-answer"):
    """Send the answer after the next one of its connection."""


class Disconnect(Act, tag="disconnect"):
    """Send the answer, then close the connection."""


class SlowClose(Act, tag="slow-close"):
    """Tell the client late that its connection is closed, whenever and why ever that happens.

    The request itself is carried out.
    """

    ms: Annotated[Milliseconds, Meta(description="how much later, in milliseconds")]


class CutAnswer(Act, tag="cut-answer"):
    """Send the first bytes of the answer, then close the connection."""

    bytes: Annotated[Count, Meta(description="how many, with the four of the size")]


class SlowAnswer(Act, tag="slow-answer"):
    """Send the answer slowly, in pieces."""

    bytes_per_s: Annotated[int, Meta(ge=1, description="how many bytes a second")]
    piece_bytes: Annotated[int, Meta(ge=1, description="how many at once")] = 1024


class CorruptRequest(Act, tag="corrupt-request"):
    """Flip bits of the request, as its schema never allows; the header stays as it is."""

    bits: Annotated[int, Meta(ge=1, le=1_000, description="how many, at places by chance")] = 1


class CorruptAnswer(Act, tag="corrupt-answer"):
    """Flip bits of the answer; its size and its header stay as they are."""

    bits: Annotated[int, Meta(ge=1, le=1_000, description="how many, at places by chance")] = 1


class Throttle(Act, tag="throttle"):
    """Tell the client in the answer to wait (ThrottleTimeMs), and let its next request wait."""

    ms: Annotated[Milliseconds, Meta(description="how long, in milliseconds")]


class Blackhole(Act, tag="blackhole"):
    """Let nothing of a connection through, as a network that drops packets, until it is removed.

    Then what was on its way arrives, as by TCP.
    """

    way: Annotated[
        Literal["in", "out", "both"],
        Meta(description="which way is cut: to the broker, from it, or both"),
    ] = "both"


class Run(Act, tag="run"):
    """Perform an operation, such as to time out a transaction or to move a leader."""

    operation: Annotated[AnyOperation, Meta(description="the operation, by its type")]
    when: Annotated[
        Literal["before", "after"],
        Meta(description="before the request is carried out, or after it, before the answer"),
    ] = "before"


AnyAct: TypeAlias = (
    Error
    | ChangeRequest
    | ChangeAnswer
    | Delay
    | Hold
    | DropRequest
    | DropAnswer
    | RepeatAnswer
    | SlowAnswer
    | ReorderAnswer
    | Disconnect
    | SlowClose
    | CutAnswer
    | CorruptRequest
    | CorruptAnswer
    | Throttle
    | Blackhole
    | Run
)
ACTS: Final[tuple[type[Act], ...]] = get_args(AnyAct)


class Rule(
    Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, frozen=True,
    rename={"while_": "while"},
):  # fmt: skip
    """A fault: which requests, which of those, and what happens to them."""

    act: Annotated[AnyAct, Meta(description="what happens")]
    match: Annotated[Match, Meta(description="which requests")] = field(default_factory=Match)
    name: Annotated[Name, Meta(description="name; by default rule-1, rule-2...")] = ""
    times: Annotated[Times | None, Meta(description="fire at most so often")] = None
    skip: Annotated[Count, Meta(description="let the first matching requests pass")] = 0
    every: Annotated[Times, Meta(description="then fire on every n-th one")] = 1
    probability: Annotated[
        float, Meta(ge=0, le=SHARE_MAX, description="fire by chance, with this probability")
    ] = SHARE_MAX
    seed: Annotated[int, Meta(description="seed of all chance in this rule")] = 0
    after: Annotated[Name | None, Meta(description="only after this other rule has fired")] = None
    while_: Annotated[
        Text | None,
        Meta(description="only while a state holds: transaction=PrepareCommit, group=Stable"),
    ] = None
    start_ms: Annotated[
        Milliseconds, Meta(description="begin so long after it was added (state time)")
    ] = 0
    expire_ms: Annotated[
        Milliseconds | None, Meta(description="end so long after it was added (state time)")
    ] = None
    may_stay_unfired: Annotated[
        bool, Meta(description="a test need not fail if the rule never fires")
    ] = False

    @property
    def is_counted(self) -> bool:
        """Whether it depends on how many requests matched, or on firings of another rule."""
        return self.times is not None or self.skip > 0 or self.every > 1 or self.after is not None


class Touched(Struct, kw_only=True, frozen=True):
    """A request that a rule fired on."""

    at_ms: Annotated[int, Meta(description="state time, in milliseconds since 1970")]
    api: str
    version: int
    correlation_id: int
    client_id: str | None
    connection: Annotated[str, Meta(description="client's end, HOST:PORT")]
    request: Annotated[Any, Meta(description="the request's fields, as they arrived")]


class Verdict(Struct, kw_only=True, frozen=True):
    """Whether a rule fires on a request, if a cluster counts for all its brokers."""

    fires: bool
    is_over: bool
    """Whether it will never fire again."""


class Status(Struct, kw_only=True, frozen=True):
    """A rule that is loaded, and what it has done."""

    name: str
    fired: Annotated[int, Meta(description="how often it has fired")]
    matched: Annotated[int, Meta(description="how many requests had all that the match asks for")]
    held: Annotated[int, Meta(description="how many requests or answers it holds now")]
    is_over: Annotated[bool, Meta(description="whether it cannot fire any more")]
    refused: Annotated[
        str, Meta(description="why its operation could not be performed the last time")
    ] = ""
    rule: Rule

    @property
    def told(self) -> str:
        """Return it in one line."""
        rule = msgspec.to_builtins(self.rule)
        held = f", holds {self.held}" if self.held else ""
        over = ", is over" if self.is_over else ""
        refused = f", refused: {self.refused}" if self.refused else ""
        what = f"{rule['act']['type']} {json.dumps(rule.get('match', {}))}"
        return f"{self.name}: {what} fired {self.fired} times{held}{over}{refused}"


def as_json(value: Any) -> bytes:
    """Encode a rule or a status."""
    return msgspec.json.encode(value)

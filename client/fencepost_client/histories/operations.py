"""``Operation``: one line of a history, and the rules for its fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

Kind: TypeAlias = Literal[
    "open", "send", "poll", "commit", "abort", "commit_offsets", "assign", "seek", "crash"
]
Outcome: TypeAlias = Literal["invoke", "ok", "fail", "info"]
Name: TypeAlias = str | int
"""A process or a value: 7 and "7" are two."""

NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "open": (),
    "send": ("topic", "partition", "values"),
    "poll": ("topic", "partition"),
    "commit": ("transaction",),
    "abort": ("transaction",),
    "commit_offsets": ("group", "topic", "partition", "offset"),
    "assign": (),
    "seek": ("topic", "partition"),
    "crash": (),
}
"""The fields without which an operation says nothing."""
OFFSET_MAX: Final = (1 << 63) - 1


class HistoryError(Exception):
    """A history that cannot be read, with the place in it."""


class Operation(
    msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """What a client did, or began to do; docs/reference/histories.md has all fields.

    Operation(op="send", process="w1", topic="orders", partition=0, offsets=[7], values=["a"])
    """

    op: Annotated[Kind, Meta(description="what the client did")]
    process: Annotated[
        Name, Meta(description="the client: one producer or consumer, from its start to its end")
    ]
    type: Annotated[
        Outcome,
        Meta(
            description="`invoke` if it begins here; else how it ended: `ok`, `fail` (it certainly "
            "did not happen) or `info` (nobody knows)"
        ),
    ] = "ok"
    id: Annotated[
        int | None,
        Meta(
            description="connects the line in which an operation began with the one in which it "
            "ended, which may leave out what the first one said"
        ),
    ] = None
    time: Annotated[int, Meta(description="when, in any unit, to merge files")] = 0
    topic: Annotated[str, Meta(description="of the records or the offset")] = ""
    partition: Annotated[int, Meta(description="of the records or the offset")] = -1
    offset: Annotated[int, Meta(description="the committed offset, or where a seek leads to")] = -1
    offsets: Annotated[
        Sequence[int], Meta(description="of each value; -1 if the sender was not told")
    ] = ()
    values: Annotated[
        Sequence[Name],
        Meta(description="what tells the records apart: best each one once in a topic"),
    ] = ()
    transaction: Annotated[
        str,
        Meta(description="the name of one transaction, until its commit or abort: any, used once"),
    ] = ""
    transactional_id: Annotated[
        str, Meta(description="the producer's; whoever opens last with an id fences the others")
    ] = ""
    group: Annotated[
        str, Meta(description="of the committed offset; or the group that a consumer opens with")
    ] = ""
    isolation: Annotated[
        Literal["read_uncommitted", "read_committed"], Meta(description="of a consumer")
    ] = "read_uncommitted"
    idempotent: Annotated[bool, Meta(description="whether a producer is")] = True
    acks: Annotated[Literal["all", "1", "0"], Meta(description="of a producer")] = "all"
    high_watermark: Annotated[int, Meta(description="that came with a poll")] = -1
    last_stable_offset: Annotated[int, Meta(description="that came with a poll")] = -1
    note: Annotated[str, Meta(description="anything, for people")] = ""

    def __post_init__(self) -> None:
        """Refuse what no checker could understand; a decoder names the place."""
        if self.id is None and self.type == "invoke":
            raise ValueError("an invoke line needs an id, by which its end finds it")
        if self.offsets and self.values and len(self.offsets) != len(self.values):
            raise ValueError(f"{len(self.offsets)} offsets for {len(self.values)} values")
        if self.offsets and not -1 <= min(self.offsets) <= max(self.offsets) <= OFFSET_MAX:
            raise ValueError("an offset is a number from 0 to 2^63-1, or -1 if nobody knows it")
        if self.id is None or self.type == "invoke":
            self.check_whole()

    def check_whole(self) -> None:
        """Raise an error if a field is missing; the end of an operation may leave out some."""
        for name in NEEDED[self.op]:
            if getattr(self, name) in ("", -1, ()):
                raise ValueError(f"{self.op} needs {name}")
        if self.op == "poll" and len(self.offsets) != len(self.values):
            raise ValueError(f"{len(self.offsets)} offsets for {len(self.values)} values")

    def completed_by(self, end: Operation) -> Operation:
        """The whole operation: what the end does not say is as it began."""
        for name in (
            "topic", "partition", "offset", "offsets", "values", "transaction",
            "transactional_id", "group", "isolation", "idempotent", "acks",
        ):  # fmt: skip
            if getattr(end, name) == _DEFAULTS[name]:
                setattr(end, name, getattr(self, name))
        if end.offsets and end.values and len(end.offsets) != len(end.values):
            raise ValueError(f"{len(end.offsets)} offsets for {len(end.values)} values")
        end.check_whole()
        return end


_DEFAULTS: Final = {
    each.name: each.default
    for each in msgspec.structs.fields(Operation)
    if each.default is not msgspec.NODEFAULT
}

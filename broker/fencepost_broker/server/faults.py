"""The faults of a running broker, for Python programs: ``broker.faults``.

    lost = broker.faults.drop_answer(api="EndTxn", times=1)
    ...
    await lost.wait_until_fired()

Each method adds one rule; its options say which requests the rule is for, and how often it fires.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import Any, Final, Generic, Literal, Protocol, TypedDict, TypeVar, Unpack

import msgspec

from fencepost_broker.config.sources.structs import StructError, convert
from fencepost_broker.faults import rule as rules
from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.faults.rule import AnyAct, Match, Rule, Status, Touched
from fencepost_broker.operations import AnyOperation

R = TypeVar("R")
F = TypeVar("F", bound="LoadedFault")
Run = Callable[[Callable[[], Any]], Any]
"""Makes a call where the broker runs."""
WAIT_S: Final = 30.0


class Options(TypedDict, total=False):
    """Which requests a fault is for, and how often it fires: as ``Match`` and ``Rule`` say."""

    api: str
    min_version: int
    max_version: int
    client_id: str
    client_software: str
    user: str
    address: str
    connection: str
    listener: str
    broker: int
    topic: str
    partition: int
    group: str
    member: str
    transactional_id: str
    producer_id: int
    producer_epoch: int
    where: list[str]
    name: str
    times: int
    skip: int
    every: int
    probability: float
    seed: int
    after: str
    while_: str
    start_ms: int
    expire_ms: int
    may_stay_unfired: bool


class FaultNotFiredError(AssertionError):
    """A fault has not fired as often as it was waited for."""


class Loaded(Protocol):
    """A rule of a broker, in this process or in another one."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def rule(self) -> Rule:
        """The rule."""

    @property
    def fired(self) -> int:
        """How often it has fired."""

    @property
    def matched(self) -> int:
        """How many requests had all that the match asks for."""

    @property
    def holds(self) -> Sized:
        """What it holds."""

    @property
    def refused(self) -> str:
        """Why its operation could not be performed the last time, or ``""``."""

    @property
    def touched(self) -> Iterable[Touched]:
        """The last requests that it fired on."""

    @property
    def is_removed(self) -> bool:
        """Whether it was removed."""

    def release(self) -> int:
        """Let all that it holds go on; return how many these are."""

    def when_fired(self, count: int, then: Callable[[], None]) -> Callable[[], None]:
        """Call ``then``, in any thread, once it has fired so often; return what stops that."""


class Rules(Protocol):
    """All rules of a broker, in this process or in another one."""

    def add(self, *rules: Rule) -> Sequence[Loaded]:
        """Add rules, all or none; raises ``RuleError`` for one that cannot work."""

    def get(self, name: str) -> Loaded:
        """Return a rule; raises ``KeyError``."""

    def remove(self, name: str) -> object:
        """Remove a rule."""

    def clear(self) -> None:
        """Remove all rules."""

    def statuses(self) -> list[Status]:
        """Return what all rules have done."""


class LoadedFault:
    """A fault that was added."""

    def __init__(self, loaded: Loaded, all_of_them: Rules, run: Run) -> None:
        self._loaded = loaded
        self._rules = all_of_them
        self._run = run

    @property
    def name(self) -> str:
        """Its name."""
        return self._loaded.name

    @property
    def rule(self) -> Rule:
        """The rule."""
        return self._loaded.rule

    @property
    def fired(self) -> int:
        """How often it has fired."""
        return self._loaded.fired

    @property
    def held(self) -> int:
        """How many requests or answers it holds."""
        return len(self._loaded.holds)

    @property
    def refused(self) -> str:
        """Why its operation could not be performed the last time, or ``""``."""
        return self._loaded.refused

    @property
    def requests(self) -> list[Touched]:
        """The last requests that it fired on."""
        return list(self._loaded.touched)

    def release(self) -> int:
        """Let what it holds go on; return how many requests and answers that is."""
        count: int = self._run(self._loaded.release)
        return count

    def remove(self) -> None:
        """Remove it; what it holds goes on."""

        def remove() -> None:
            if not self._loaded.is_removed:
                self._rules.remove(self.name)

        self._run(remove)

    def _check(self, times: int, timeout_s: float) -> None:
        """Raise an error if the wait ended because a broker in another process has ended."""
        if self.fired < times:
            raise self._not_fired(times, timeout_s)

    def _not_fired(self, times: int, timeout_s: float) -> FaultNotFiredError:
        matched = self._loaded.matched
        return FaultNotFiredError(
            f"the fault {self.name} has fired {self.fired} of {times} times in {timeout_s:g} s;"
            f" {matched} requests matched it"
        )

    def __repr__(self) -> str:
        return f"<fault {self.name}: fired {self.fired} times>"


class Fault(LoadedFault):
    """A fault that was added, for programs in the broker's event loop."""

    async def wait_until_fired(self, times: int = 1, timeout_s: float = WAIT_S) -> None:
        """Wait until it has fired so often; raises ``FaultNotFiredError`` if it does not."""
        fired = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wake() -> None:
            loop.call_soon_threadsafe(fired.set)

        stop = self._loaded.when_fired(times, wake)
        try:
            await asyncio.wait_for(fired.wait(), timeout_s)
        except TimeoutError:
            raise self._not_fired(times, timeout_s) from None
        finally:
            stop()
        self._check(times, timeout_s)


class BlockingFault(LoadedFault):
    """A fault that was added, for programs without an event loop."""

    def wait_until_fired(self, times: int = 1, timeout_s: float = WAIT_S) -> None:
        """Wait until it has fired so often; raises ``FaultNotFiredError`` if it does not."""
        fired = threading.Event()
        stop = self._run(lambda: self._loaded.when_fired(times, fired.set))
        if not fired.wait(timeout_s):
            self._run(stop)
            raise self._not_fired(times, timeout_s)
        self._check(times, timeout_s)


class Faults(Generic[F]):
    """The faults of a broker. See docs/how-to/break-requests.md."""

    def __init__(self, of_broker: Callable[[], Rules], make: type[F], run: Run) -> None:
        self._of_broker = of_broker
        self._make = make
        self._run = run

    # -- all of them -----------------------------------------------------------------------------

    def add(self, rule: Rule) -> F:
        """Add a rule; raises ``RuleError`` for one that cannot work."""
        return self.add_all([rule])[0]

    def add_all(self, rules_: Iterable[Rule]) -> list[F]:
        """Add rules, all or none; raises ``RuleError`` for one that cannot work."""
        checked = [_checked(each) for each in rules_]

        def add() -> list[F]:
            all_of_them = self._of_broker()
            return [self._make(each, all_of_them, self._run) for each in all_of_them.add(*checked)]

        made: list[F] = self._run(add)
        return made

    def load(self, path: str) -> list[F]:
        """Add the rules of a TOML file."""
        from fencepost_broker.faults.plan import read_plan

        return self.add_all(read_plan(path))

    def __getitem__(self, name: str) -> F:
        """Return the fault of this name; raises ``KeyError``."""

        def find() -> F:
            all_of_them = self._of_broker()
            return self._make(all_of_them.get(name), all_of_them, self._run)

        found: F = self._run(find)
        return found

    def list(self) -> list[Status]:
        """Return what each fault has done, in the order in which they were added."""
        found: list[Status] = self._run(lambda: self._of_broker().statuses())
        return found

    def clear(self) -> None:
        """Remove all faults; what they hold goes on."""
        self._run(lambda: self._of_broker().clear())

    # -- one method for each act -----------------------------------------------------------------

    def error(
        self, code: str, *, message: str | None = None, apply: bool = False,
        **options: Unpack[Options],
    ) -> F:  # fmt: skip
        """Answer with an error; with ``apply``, carry out the request all the same.

        With a ``topic`` or a ``partition``, those elements of the request alone are refused.
        """
        return self._add(rules.Error(code=code, message=message, apply=apply), options)

    def change_request(self, values: Mapping[str, Any], **options: Unpack[Options]) -> F:
        """Change fields of the request, {"timeout_ms": 1}, before it is carried out."""
        return self._add(rules.ChangeRequest(set=dict(values)), options)

    def change_answer(self, values: Mapping[str, Any], **options: Unpack[Options]) -> F:
        """Change fields of the answer before it is sent."""
        return self._add(rules.ChangeAnswer(set=dict(values)), options)

    def delay(
        self, ms: int, *, spread_ms: int = 0, what: Literal["request", "answer"] = "request",
        **options: Unpack[Options],
    ) -> F:  # fmt: skip
        """Carry out the request later, or send its answer later."""
        return self._add(rules.Delay(ms=ms, spread_ms=spread_ms, what=what), options)

    def hold(self, what: Literal["request", "answer"] = "request", **options: Unpack[Options]) -> F:
        """Hold the request, or its answer, until ``release`` or ``remove``."""
        return self._add(rules.Hold(what=what), options)

    def drop_request(
        self, *, silently: bool = False, reset: bool = False, **options: Unpack[Options]
    ) -> F:
        """Do not carry out the request, and close the connection."""
        return self._add(rules.DropRequest(silently=silently, reset=reset), options)

    def drop_answer(
        self, *, silently: bool = False, reset: bool = False, **options: Unpack[Options]
    ) -> F:
        """Carry out the request, and close the connection without an answer."""
        return self._add(rules.DropAnswer(silently=silently, reset=reset), options)

    def slow_answer(
        self, bytes_per_s: int, piece_bytes: int = 1024, **options: Unpack[Options]
    ) -> F:
        """Send the answer slowly, in pieces."""
        return self._add(rules.SlowAnswer(bytes_per_s, piece_bytes), options)

    def repeat_answer(self, **options: Unpack[Options]) -> F:
        """Send the answer twice."""
        return self._add(rules.RepeatAnswer(), options)

    def reorder_answer(self, **options: Unpack[Options]) -> F:
        """Send the answer after the next one of its connection."""
        return self._add(rules.ReorderAnswer(), options)

    def disconnect(self, **options: Unpack[Options]) -> F:
        """Send the answer, then close the connection."""
        return self._add(rules.Disconnect(), options)

    def slow_close(self, ms: int, **options: Unpack[Options]) -> F:
        """Tell the client so much later that its connection is closed, whenever that happens."""
        return self._add(rules.SlowClose(ms=ms), options)

    def cut_answer(self, count: int, **options: Unpack[Options]) -> F:
        """Send the first ``count`` bytes of the answer, then close the connection."""
        return self._add(rules.CutAnswer(bytes=count), options)

    def corrupt_request(self, bits: int = 1, **options: Unpack[Options]) -> F:
        """Flip bits of the request after its header."""
        return self._add(rules.CorruptRequest(bits=bits), options)

    def corrupt_answer(self, bits: int = 1, **options: Unpack[Options]) -> F:
        """Flip bits of the answer after its header."""
        return self._add(rules.CorruptAnswer(bits=bits), options)

    def throttle(self, ms: int, **options: Unpack[Options]) -> F:
        """Tell the client in the answer to wait, and let its next request wait."""
        return self._add(rules.Throttle(ms=ms), options)

    def blackhole(
        self, way: Literal["in", "out", "both"] = "both", **options: Unpack[Options]
    ) -> F:
        """Let nothing of a connection through until ``remove``."""
        return self._add(rules.Blackhole(way=way), options)

    def run(
        self,
        operation: AnyOperation,
        *,
        when: Literal["before", "after"] = "before",
        **options: Unpack[Options],
    ) -> F:
        """Perform an operation before the request is carried out, or after it.

        An operation that cannot work changes nothing; ``refused`` says why.
        """
        return self._add(rules.Run(operation=operation, when=when), options)

    def _add(self, act: AnyAct, options: Options) -> F:
        given: dict[str, Any] = dict(options)
        match = {name: given.pop(name) for name in Match.__struct_fields__ if name in given}
        return self.add(Rule(act=act, match=Match(**match), **given))


def _checked(rule: Rule) -> Rule:
    """Return a rule; raises ``RuleError`` for values that it cannot have in JSON or TOML either.

    A struct that is made in Python takes any value: msgspec looks only at what it converts.
    """
    if not isinstance(rule, Rule):
        raise TypeError(f"a rule must be a Rule, not {rule!r:.80}")
    try:
        convert(msgspec.to_builtins(rule), Rule)
    except (StructError, TypeError) as error:
        raise RuleError(f"{rule.name}: {error}" if rule.name else str(error)) from None
    return rule

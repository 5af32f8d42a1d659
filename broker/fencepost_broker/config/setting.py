"""One setting: its name, type, range, default, scope and one line of help.

A table of settings is a class whose attributes are settings; an attribute's name is Kafka's, with
underscores for dots. `Table.num_partitions` is the setting and `table.num_partitions` its value;
type checkers know both types.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar, cast, overload

from fencepost_broker.config.values import value_text
from fencepost_broker.config.values.units import DOUBLE_MAX, INT_MAX, LONG_MAX, SHORT_MAX

if TYPE_CHECKING:
    from collections.abc import Callable

Value: TypeAlias = bool | int | float | str | tuple[str, ...] | None
V = TypeVar("V")

BooleanValue = TypeVar("BooleanValue", bound="bool | None")
IntegerValue = TypeVar("IntegerValue", bound="int | None")
StringValue = TypeVar("StringValue", bound="str | None")
ListValue = TypeVar("ListValue", bound="tuple[str, ...] | None")


class Kind(IntEnum):
    """Types of settings, with the numbers of DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Scope(Enum):
    """Where and when a setting can be changed, in Kafka's words."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER = "cluster-wide"
    TOPIC = "topic"
    GROUP = "group"
    CLIENT_METRICS = "client-metrics"


_BOUNDS: Final[dict[Kind, tuple[float, float]]] = {
    Kind.SHORT: (-SHORT_MAX - 1, SHORT_MAX),
    Kind.INT: (-INT_MAX - 1, INT_MAX),
    Kind.LONG: (-LONG_MAX - 1, LONG_MAX),
    Kind.DOUBLE: (-DOUBLE_MAX, DOUBLE_MAX),
}


class Setting(Generic[V]):
    """One setting, made by the functions below; its name comes from the attribute.

    ``kafka_default`` and ``because`` are present if the default differs from Kafka's; ``stays``
    keeps it even with ``kafka.defaults``. An ``ignored`` setting is read and checked, so that
    Kafka's files can be used, but has no effect. An ``internal`` one is not shown to clients, as in
    Kafka. ``check`` returns what is wrong with a value within its range, or ``None``.
    """

    __slots__ = (
        "at_least",
        "at_most",
        "attribute",
        "because",
        "check",
        "default",
        "help",
        "ignored",
        "internal",
        "kafka_default",
        "kind",
        "may_be_empty",
        "name",
        "one_of",
        "own",
        "range_text",
        "scope",
        "stays",
        "synonyms",
    )

    def __init__(
        self,
        kind: Kind,
        default: V,
        help_line: str,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
        one_of: tuple[str, ...] = (),
        may_be_empty: bool = True,
        check: Callable[[Any], str | None] | None = None,
        range_text: str = "",
        scope: Scope = Scope.READ_ONLY,
        own: bool = False,
        ignored: bool = False,
        internal: bool = False,
        kafka: Value = "",
        because: str = "",
        stays: bool = False,
        synonyms: tuple[tuple[str, int], ...] = (),
    ) -> None:
        self.name = ""
        self.attribute = ""
        self.kind = kind
        self.default = default
        self.help = help_line
        self.at_least = at_least
        self.at_most = at_most
        self.one_of = one_of
        self.may_be_empty = may_be_empty
        self.check = check
        self.range_text = range_text
        self.scope = scope
        self.own = own
        self.ignored = ignored
        self.internal = internal
        self.kafka_default: Value = kafka if because else cast("Value", default)
        self.because = because
        self.stays = stays
        self.synonyms = synonyms

    def __set_name__(self, owner: type, attribute: str) -> None:
        self.attribute = attribute
        self.name = attribute.replace("_", ".")

    @overload
    def __get__(self, instance: None, owner: type) -> Setting[V]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> V: ...
    def __get__(self, instance: object, owner: type) -> Setting[V] | V:
        # An instance's values are in its own dictionary, which Python looks into first.
        if instance is None:
            return self
        raise AttributeError(self.attribute)

    def __repr__(self) -> str:
        return f"<setting {self.name}>"

    @property
    def follows_kafka(self) -> bool:
        """Whether ``kafka.defaults`` changes its default."""
        return bool(self.because) and not self.stays

    @property
    def is_sensitive(self) -> bool:
        """Whether its value is never shown."""
        return self.kind is Kind.PASSWORD

    @property
    def is_read_only(self) -> bool:
        """Whether it cannot change after the start."""
        return self.scope is Scope.READ_ONLY

    def parse(self, given: str) -> V:
        """Parse a text; raises ValueError that says what is wrong."""
        value = self._read(given.strip())
        return self.checked(value)

    def checked(self, value: Value) -> V:
        """Return the value if the setting can have it; otherwise raises ValueError."""
        if value is None:
            if self.default is not None:
                raise ValueError("it needs a value")
            return cast("V", value)
        value = self._typed(value)
        if isinstance(value, tuple):
            self._check_list(value)
        elif self.one_of and value not in self.one_of:
            raise ValueError("it is not one of them")
        if self.kind in _BOUNDS:
            self._check_number(cast("float", value))
        if self.check is not None and (problem := self.check(value)):
            raise ValueError(problem)
        return cast("V", value)

    def format(self, value: Value) -> str | None:
        """Return a value as Kafka writes it, or ``None``."""
        return value_text.write(value)

    @property
    def allowed(self) -> str:
        """Type and range in words, as in ``int, at least 1``."""
        words = self.kind.name.lower()
        if self.one_of:
            words += f", {'any' if self.kind is Kind.LIST else 'one'} of " + ", ".join(self.one_of)
        elif self.at_least is not None and self.at_most is not None:
            words += f", {value_text.write(self.at_least)} to {value_text.write(self.at_most)}"
        elif self.at_least is not None:
            words += f", at least {value_text.write(self.at_least)}"
        elif self.at_most is not None:
            words += f", at most {value_text.write(self.at_most)}"
        if self.range_text:
            words += f", {self.range_text}"
        if not self.may_be_empty:
            words += ", not empty"
        return words

    def _read(self, given: str) -> Value:
        match self.kind:
            case Kind.BOOLEAN:
                return value_text.read_boolean(given)
            case Kind.INT | Kind.SHORT | Kind.LONG:
                return value_text.read_integer(given)
            case Kind.DOUBLE:
                return value_text.read_double(given)
            case Kind.LIST:
                return value_text.read_list(given)
        return given

    def _typed(self, value: object) -> Value:
        """Convert values that Python code would pass: an int for a double, a list."""
        match self.kind:
            case Kind.BOOLEAN:
                fits = isinstance(value, bool)
            case Kind.INT | Kind.SHORT | Kind.LONG:
                fits = isinstance(value, int) and not isinstance(value, bool)
            case Kind.DOUBLE:
                fits = isinstance(value, int | float) and not isinstance(value, bool)
                value = float(cast("float", value)) if fits else value
            case Kind.LIST:
                if isinstance(value, list):
                    value = tuple(value)
                fits = isinstance(value, tuple) and all(isinstance(word, str) for word in value)
            case _:
                fits = isinstance(value, str)
        if not fits:
            raise ValueError(f"it is of type {type(value).__name__}")
        return cast("Value", value)

    def _check_number(self, value: float) -> None:
        least, most = _BOUNDS[self.kind]
        least = least if self.at_least is None else self.at_least
        most = most if self.at_most is None else self.at_most
        if value < least:
            raise ValueError("it is too small")
        if value > most:
            raise ValueError("it is too large")
        if value != value:
            raise ValueError("it is not a number")

    def _check_list(self, value: tuple[str, ...]) -> None:
        if not value and not self.may_be_empty:
            raise ValueError("it is empty")
        seen: set[str] = set()  # clients choose how many words there are
        for word in value:
            if not word:
                raise ValueError("one of its words is empty")
            if word in seen:
                raise ValueError(f"{word} is given twice")
            seen.add(word)
            if self.one_of and word not in self.one_of:
                raise ValueError(f"{word} is not one of them")


AnySetting: TypeAlias = Setting[Any]


def boolean(default: BooleanValue, help_line: str, **facts: Any) -> Setting[BooleanValue]:
    """A setting that is true or false."""
    return Setting(Kind.BOOLEAN, default, help_line, **facts)


def short(default: IntegerValue, help_line: str, **facts: Any) -> Setting[IntegerValue]:
    """A setting that is a number of 16 bits."""
    return Setting(Kind.SHORT, default, help_line, **facts)


def integer(default: IntegerValue, help_line: str, **facts: Any) -> Setting[IntegerValue]:
    """A setting that is a number of 32 bits."""
    return Setting(Kind.INT, default, help_line, **facts)


def long(default: IntegerValue, help_line: str, **facts: Any) -> Setting[IntegerValue]:
    """A setting that is a number of 64 bits."""
    return Setting(Kind.LONG, default, help_line, **facts)


def double(default: float, help_line: str, **facts: Any) -> Setting[float]:
    """A setting that is a floating-point number."""
    return Setting(Kind.DOUBLE, default, help_line, **facts)


def string(default: StringValue, help_line: str, **facts: Any) -> Setting[StringValue]:
    """A setting that is a text."""
    return Setting(Kind.STRING, default, help_line, **facts)


def password(default: StringValue, help_line: str, **facts: Any) -> Setting[StringValue]:
    """A setting that is a text which is never shown."""
    return Setting(Kind.PASSWORD, default, help_line, **facts)


def strings(default: ListValue, help_line: str, **facts: Any) -> Setting[ListValue]:
    """A setting that is a list of texts, written with commas."""
    return Setting(Kind.LIST, default, help_line, **facts)

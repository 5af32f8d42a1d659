"""Immutable values of a table's settings, and the source of each value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import ClassVar, Final, NamedTuple, NoReturn, Self

from fencepost_broker.config.errors import SettingsError, nearest
from fencepost_broker.config.setting import AnySetting, Scope, Setting, Value

SHOWN_MAX: Final = 200
PROBLEMS_MAX: Final = 10


class Origin(Enum):
    """Kinds of sources, the weakest first."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    OPTION = "option"
    CODE = "code"
    CLUSTER = "dynamic, cluster-wide"
    BROKER = "dynamic, of this broker"
    TOPIC = "topic"
    GROUP = "group"
    CLIENT_METRICS = "client-metrics"


class Source(NamedTuple):
    """Source of a value: its kind, and its place, as in ``server.toml:3``."""

    origin: Origin
    place: str = ""

    def __str__(self) -> str:
        return self.place or self.origin.value

    @property
    def told(self) -> str:
        """The place, as the end of an error message, or nothing where it is obvious."""
        return f" ({self.place})" if self.place else ""


DEFAULT: Final = Source(Origin.DEFAULT)
CODE: Final = Source(Origin.CODE, "the program")


class Given(NamedTuple):
    """A value that was given to a setting, with its source."""

    value: Value
    source: Source


class Table(Mapping[str, Value]):
    """A snapshot of all values: by attribute with its type, or by Kafka's name as a mapping."""

    settings: ClassVar[dict[str, AnySetting]] = {}
    """All settings of this table, by name."""
    what: ClassVar[str] = "setting"

    _defaults: ClassVar[dict[str, Value]] = {}
    _given: dict[str, tuple[Given, ...]]

    def __init_subclass__(cls, scope: Scope | None = None) -> None:
        found = {
            setting.name: setting
            for parent in reversed(cls.__mro__)
            for setting in vars(parent).values()
            if isinstance(setting, Setting)
        }
        if scope is not None:
            for setting in found.values():
                setting.scope = scope
        cls.settings = {name: found[name] for name in sorted(found)}
        cls._defaults = {setting.attribute: setting.default for setting in cls.settings.values()}

    def __init__(self, given: Mapping[str, tuple[Given, ...]] | None = None) -> None:
        """``given`` has checked values by name, the strongest first."""
        own = self.__dict__
        own.update(self._defaults)
        own["_given"] = dict(given or {})
        for name, values in own["_given"].items():
            setting = self.settings.get(name)
            if setting is not None:
                own[setting.attribute] = values[0].value

    def __setattr__(self, attribute: str, value: object) -> NoReturn:
        raise AttributeError(
            f"settings do not change; make new ones with with_overrides: {attribute}"
        )

    def __getitem__(self, name: str) -> Value:
        setting = self.settings.get(name)
        if setting is None:
            return self._given[name][0].value
        value: Value = self.__dict__[setting.attribute]
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.settings)

    def __len__(self) -> int:
        return len(self.settings)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={self.shown(name)}" for name in self._given)
        return f"<{type(self).__name__} {given or 'of defaults'}>"

    @classmethod
    def setting_of(cls, name: str) -> AnySetting | None:
        """Return the setting of this name, including names that a pattern allows."""
        return cls.settings.get(name)

    @property
    def given_beside(self) -> list[str]:
        """Given names that are not in ``settings`` but that a pattern allows."""
        return sorted(self._given.keys() - self.settings.keys())

    def source(self, name: str) -> Source:
        """Return the source of the value in force."""
        given = self._given.get(name)
        return given[0].source if given else DEFAULT

    def default_of(self, setting: AnySetting) -> Value:
        """Return the value of a setting that is not given."""
        default: Value = setting.default
        return default

    def given(self, name: str) -> tuple[Given, ...]:
        """Return all values given to a setting; the first one is in force."""
        return self._given.get(name, ())

    def shown(self, name: str) -> str | None:
        """Return the value as Kafka writes it; passwords are hidden."""
        setting = self.setting_of(name)
        assert setting is not None, name
        if setting.is_sensitive and self[name] is not None:
            return "[hidden]"
        return setting.format(self[name])

    def with_overrides(self, values: Mapping[str, Value], source: Source = CODE) -> Self:
        """Return a new snapshot in which these values are the strongest; texts are parsed.

        Raises one SettingsError for all errors.
        """
        return self.with_given((name, value, source) for name, value in values.items())

    def with_given(self, values: Iterator[tuple[str, Value, Source]]) -> Self:
        """Return a new snapshot with these values and their sources; later ones are stronger."""
        given = dict(self._given)
        problems: list[str] = []
        for name, value, source in values:
            try:
                checked = self.checked(name, value, source)
            except SettingsError as error:
                problems += error.problems
                if len(problems) >= PROBLEMS_MAX:
                    # A request may give a million names, and finding what each meant takes 30 us.
                    problems.append("the settings after these were not checked")
                    break
            else:
                given[name] = (Given(checked, source), *given.get(name, ()))
        made = type(self)(given)
        if not problems:
            problems = made.contradictions()
        if problems:
            raise SettingsError(problems)
        return made

    def contradictions(self) -> list[str]:
        """Return what is wrong with values that are valid one by one."""
        return []

    @classmethod
    def checked(cls, name: str, value: Value, source: Source) -> Value:
        """Return the typed value; raises SettingsError."""
        setting = cls.setting_of(name)
        if setting is None:
            raise SettingsError([f"{cls.explain_unknown(name)}{source.told}"])
        try:
            if isinstance(value, str):
                return setting.parse(value)  # type: ignore[no-any-return]  # of any type
            return setting.checked(value)  # type: ignore[no-any-return]
        except ValueError as error:
            shown = "[hidden]" if setting.is_sensitive else _shortened(value)
            raise SettingsError(
                [f"{name}={shown}: {error}; allowed: {setting.allowed}{source.told}"]
            ) from None

    @classmethod
    def explain_unknown(cls, name: str) -> str:
        """Return an error for a name that is not a setting."""
        near = nearest(name, cls.settings)
        return f"there is no {cls.what} {name}" + (f"; did you mean {near}?" if near else "")


def _shortened(value: Value) -> str:
    shown = ",".join(value) if isinstance(value, tuple) else str(value)
    return shown if len(shown) <= SHOWN_MAX else f"{shown[:SHOWN_MAX]}..."

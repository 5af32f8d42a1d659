"""Values of all settings of a table, and where each comes from; nothing of it changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import ClassVar, Final, NamedTuple, NoReturn, Self

from fencepost_broker.config.errors import SettingsError, nearest
from fencepost_broker.config.setting import AnySetting, Scope, Setting, Value

SHOWN_MAX: Final = 200
PROBLEMS_MAX: Final = 10


class Origin(Enum):
    """The kinds of places that values come from, the weakest first."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    OPTION = "option"
    CODE = "code"
    CLUSTER = "dynamic, cluster-wide"
    BROKER = "dynamic, of this broker"
    TOPIC = "topic"
    GROUP = "group"


class Source(NamedTuple):
    """Where a value comes from: what kind of place, and exactly where, as ``server.toml:3``."""

    origin: Origin
    place: str = ""

    def __str__(self) -> str:
        return self.place or self.origin.value

    @property
    def told(self) -> str:
        """What an error message ends in: the place, where there is more than one."""
        return f" ({self.place})" if self.place else ""


DEFAULT: Final = Source(Origin.DEFAULT)
CODE: Final = Source(Origin.CODE, "the program")


class Given(NamedTuple):
    """A value that somebody gave to a setting."""

    value: Value
    source: Source


class Table(Mapping[str, Value]):
    """A snapshot of all values: by attribute with its type, or by Kafka's name as a mapping."""

    settings: ClassVar[dict[str, AnySetting]] = {}
    """Every setting of this table by its name."""
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
        """What was given to each setting by name, the strongest first; checked already."""
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
        """The setting of this name, also where there may be many like it."""
        return cls.settings.get(name)

    @property
    def given_beside(self) -> list[str]:
        """Names that were given and are not among ``settings``: there may be many like them."""
        return sorted(self._given.keys() - self.settings.keys())

    def source(self, name: str) -> Source:
        """Where the value in force comes from."""
        given = self._given.get(name)
        return given[0].source if given else DEFAULT

    def default_of(self, setting: AnySetting) -> Value:
        """What a setting is where nothing is given."""
        default: Value = setting.default
        return default

    def given(self, name: str) -> tuple[Given, ...]:
        """All that was given to a setting, the strongest, which is in force, first."""
        return self._given.get(name, ())

    def shown(self, name: str) -> str | None:
        """The value as Kafka writes it; a password is not shown."""
        setting = self.setting_of(name)
        assert setting is not None, name
        if setting.is_sensitive and self[name] is not None:
            return "[hidden]"
        return setting.format(self[name])

    def with_overrides(self, values: Mapping[str, Value], source: Source = CODE) -> Self:
        """A new snapshot where these values are the strongest; a text is read if need be.

        All that is wrong with them is said in one SettingsError.
        """
        return self.with_given((name, value, source) for name, value in values.items())

    def with_given(self, values: Iterator[tuple[str, Value, Source]]) -> Self:
        """As with_overrides, each value with a source of its own; later ones are stronger."""
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
        """What is wrong with values together that are right one by one."""
        return []

    @classmethod
    def checked(cls, name: str, value: Value, source: Source) -> Value:
        """The value with its type, or a SettingsError that says why it cannot be one."""
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
        """What to tell somebody who used a name that is none of ours."""
        near = nearest(name, cls.settings)
        return f"there is no {cls.what} {name}" + (f"; did you mean {near}?" if near else "")


def _shortened(value: Value) -> str:
    shown = ",".join(value) if isinstance(value, tuple) else str(value)
    return shown if len(shown) <= SHOWN_MAX else f"{shown[:SHOWN_MAX]}..."

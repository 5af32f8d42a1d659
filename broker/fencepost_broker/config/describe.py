"""Settings as in DescribeConfigs: value, source, and synonyms."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from fencepost_broker.config.setting import AnySetting, Kind, Scope, Value
from fencepost_broker.config.settings import Settings
from fencepost_broker.config.table import Origin, Table

SOURCE_TOPIC: Final = 1
SOURCE_BROKER: Final = 2
SOURCE_CLUSTER: Final = 3
SOURCE_STATIC: Final = 4
SOURCE_DEFAULT: Final = 5
SOURCE_CLIENT_METRICS: Final = 7
SOURCE_GROUP: Final = 8

SOURCES: Final = {
    Origin.DEFAULT: SOURCE_DEFAULT,
    Origin.FILE: SOURCE_STATIC,
    Origin.ENVIRONMENT: SOURCE_STATIC,
    Origin.OPTION: SOURCE_STATIC,
    Origin.CODE: SOURCE_STATIC,
    Origin.CLUSTER: SOURCE_CLUSTER,
    Origin.BROKER: SOURCE_BROKER,
    Origin.TOPIC: SOURCE_TOPIC,
    Origin.GROUP: SOURCE_GROUP,
    Origin.CLIENT_METRICS: SOURCE_CLIENT_METRICS,
}
"""Sources of values in DescribeConfigs."""
_OF_RESOURCES: Final = frozenset({Origin.TOPIC, Origin.GROUP, Origin.CLIENT_METRICS})

# Settings of the broker that mean the same in different units: the first that is set holds.
_CHAINS: Final = (
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
)
_SYNONYMS: Final = {
    **{name: chain for chain in _CHAINS for name in chain},
    "log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
}


class Synonym(NamedTuple):
    """A value that a setting has, or would have without the synonyms before it."""

    name: str
    value: str | None
    source: int


class Described(NamedTuple):
    """Answer of DescribeConfigs about one setting; passwords have no value."""

    name: str
    value: str | None
    source: int
    synonyms: tuple[Synonym, ...]
    kind: Kind
    is_read_only: bool
    is_sensitive: bool
    documentation: str


def describe(settings: Settings, name: str) -> Described:
    """Describe a setting of the broker."""
    setting = Settings.setting_of(name)
    assert setting is not None, name
    return _described(setting, settings[name], _broker_synonyms(settings, name))


def describe_of(settings: Settings, table: Table, name: str) -> Described:
    """Describe a setting of a topic, a group or client metrics, with the broker's settings."""
    setting = table.settings[name]
    synonyms = [
        Synonym(name, _text(setting, given.value), SOURCES[given.source.origin])
        for given in table.given(name)[:1]
        if given.source.origin in _OF_RESOURCES
    ]
    if setting.synonyms:
        synonyms += _broker_synonyms(settings, setting.synonyms[0][0])
    elif setting.scope is Scope.GROUP:
        synonyms.append(Synonym(name, _text(setting, setting.default), SOURCE_DEFAULT))
    return _described(setting, table[name], synonyms)


def _described(setting: AnySetting, value: Value, synonyms: Sequence[Synonym]) -> Described:
    return Described(
        setting.name,
        _text(setting, value),
        # Kafka's rule, which takes a value that came by another name for a default.
        synonyms[0].source if synonyms else SOURCE_DEFAULT,
        tuple(synonyms),
        setting.kind,
        setting.is_read_only,
        setting.is_sensitive,
        setting.help,
    )


def _broker_synonyms(settings: Settings, name: str) -> list[Synonym]:
    """Return values given to a setting and its synonyms, the strongest first.

    Kafka leaves out those before the first one with the setting's own name.
    """
    chain = _SYNONYMS.get(name, (name,))
    found: list[Synonym] = []
    for source in (SOURCE_BROKER, SOURCE_CLUSTER, SOURCE_STATIC, SOURCE_DEFAULT):
        for synonym in chain:
            setting = Settings.setting_of(synonym)
            assert setting is not None, synonym
            if source == SOURCE_DEFAULT:
                values = [settings.default_of(setting)]
            else:
                values = [
                    given.value
                    for given in settings.given(synonym)
                    if SOURCES[given.source.origin] == source
                ]
            found += [
                Synonym(synonym, _text(setting, value), source)
                for value in values[:1]
                if value is not None
            ]
    while found and found[0].name != name:
        del found[0]
    return found


def _text(setting: AnySetting, value: Value) -> str | None:
    return None if setting.is_sensitive else setting.format(value)

"""Topics that a broker creates at its start, as ``NAME[:PARTITIONS][:CONFIG=VALUE]...``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from fencepost_broker.config import SettingsError, TopicSettings, Value
from fencepost_broker.config.table import Origin, Source
from fencepost_broker.config.values.value_text import write

FORM: Final = "NAME[:PARTITIONS][:CONFIG=VALUE]..."
PARTITIONS_MAX: Final = 100_000


class WantedTopic(NamedTuple):
    """A topic; without a number of partitions, the broker's settings apply."""

    name: str
    partitions: int = -1
    configs: Mapping[str, str] = MappingProxyType({})


def written(configs: Mapping[str, Value] | None) -> dict[str, str]:
    """Return a topic's settings as requests have them; ``None`` stands for the default."""
    texts = ((name, write(value)) for name, value in (configs or {}).items())
    return {name: text for name, text in texts if text is not None}


def read_topic(text: str) -> WantedTopic:
    """Parse a topic; raises ValueError."""
    name, *parts = text.split(":")
    if not name:
        raise ValueError(f"topic {text!r}: it must be {FORM}")
    partitions = -1
    if parts and "=" not in parts[0]:
        partitions = _partitions(text, parts.pop(0))
    configs: dict[str, str] = {}
    setting = ""
    for part in parts:
        key, equals, value = part.partition("=")
        if equals:
            setting = key.strip()
            if setting in configs:
                raise ValueError(f"topic {text!r}: {setting} is given twice")
            configs[setting] = value
        elif setting:  # a colon within a value
            configs[setting] += f":{part}"
        else:
            raise ValueError(f"topic {text!r}: {part!r} is not CONFIG=VALUE; it must be {FORM}")
    try:
        TopicSettings().with_overrides(configs, Source(Origin.TOPIC))
    except SettingsError as error:
        raise ValueError("; ".join(f"topic {text!r}: {each}" for each in error.problems)) from None
    return WantedTopic(name, partitions, configs)


def read_topics(given: Iterable[str] | Mapping[str, int]) -> list[WantedTopic]:
    """Return topics from names with partitions, or from texts."""
    if isinstance(given, Mapping):
        for name, partitions in given.items():
            if partitions < 1:
                raise ValueError(f"topic {name!r}: it cannot have {partitions} partitions")
        return [WantedTopic(name, partitions) for name, partitions in given.items()]
    if isinstance(given, str):
        given = [given]
    topics: dict[str, WantedTopic] = {}
    for text in given:
        topic = read_topic(text)
        if topics.setdefault(topic.name, topic) != topic:
            raise ValueError(f"topic {text!r}: {topic.name} is given twice, and not alike")
    return list(topics.values())


def _partitions(text: str, digits: str) -> int:
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(
            f"topic {text!r}: {digits!r} is not a number of partitions; it must be {FORM}"
        )
    partitions = int(digits[:10])
    if not 1 <= partitions <= PARTITIONS_MAX:
        raise ValueError(f"topic {text!r}: partitions must be 1 to {PARTITIONS_MAX}")
    return partitions

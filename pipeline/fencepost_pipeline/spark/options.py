"""Options of a data source. Names are case-insensitive; unknown names are errors.

    options = Options(given, SOURCE_OPTIONS, "spark.read.format('fencepost')", CONSUMER_NAMES)
    options.whole("maxOffsetsPerTrigger", at_least=1)
    consumer = Consumer.from_config(options.client)

Options that begin with ``kafka.`` are settings of the client, as in Spark's Kafka source.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Final

from fencepost_client.config.kafka_names import Names

CLIENT_PREFIX: Final = "kafka."
_BOOLEANS: Final = {"true": True, "false": False}


class OptionError(ValueError):
    """An option is unknown, missing or invalid."""


class Options:
    """The options of a data source.

    ``known`` are the options by their proper names, ``client_names`` those after ``kafka.``, and
    ``ignored`` is taken without effect: what only Spark reads, or its own Kafka source.
    """

    def __init__(
        self,
        given: Mapping[str, str],
        known: Collection[str],
        place: str,
        client_names: Names,
        ignored: Collection[str] = (),
    ) -> None:
        self.place = place
        self.client: dict[str, str] = {}
        """Settings of the client by Kafka's names, without ``kafka.``."""
        self._values: dict[str, str] = {}
        proper = {name.lower(): name for name in known}
        without_effect = {name.lower() for name in ignored}
        for name, value in given.items():
            lower = name.lower()
            if lower in proper:
                self._values[proper[lower]] = value
            elif lower in without_effect:
                continue
            elif lower.removeprefix(CLIENT_PREFIX) in client_names and lower.startswith("kafka."):
                self.client[lower.removeprefix(CLIENT_PREFIX)] = value
            else:
                raise OptionError(self._unknown(lower, known, client_names))
        if "bootstrap.servers" not in self.client:
            raise self.error("kafka.bootstrap.servers is missing: write host:port")

    def _unknown(self, lower: str, known: Collection[str], client_names: Names) -> str:
        candidates = {name.lower(): name for name in known}
        candidates |= {CLIENT_PREFIX + name: CLIENT_PREFIX + name for name in client_names}
        nearest = difflib.get_close_matches(lower, candidates, 1, 0.0)
        hint = f"; the nearest is {candidates[nearest[0]]!r}" if nearest else ""
        return f"{lower!r} is no option of {self.place}{hint}"

    def error(self, message: str) -> OptionError:
        """An error that says which data source it is about."""
        return OptionError(f"{self.place}: {message}")

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def text(self, name: str, default: str | None = None) -> str | None:
        """The value as it was given."""
        return self._values.get(name, default)

    def required(self, name: str, example: str) -> str:
        """The value of an option that has to be there."""
        value = self._values.get(name)
        if not value:
            raise self.error(f"{name} is missing: .option({name!r}, {example!r})")
        return value

    def whole(self, name: str, default: int | None = None, *, at_least: int = 0) -> int | None:
        """A whole number."""
        text = self._values.get(name)
        if text is None:
            return default
        try:
            value = int(text)
        except ValueError:
            raise self.error(f"{name} is {text!r}: write a whole number") from None
        if value < at_least:
            raise self.error(f"{name} is {value}: it has to be at least {at_least}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        text = self._values.get(name)
        if text is None:
            return default
        if text.lower() not in _BOOLEANS:
            raise self.error(f"{name} is {text!r}: write true or false")
        return _BOOLEANS[text.lower()]

    def choice(self, name: str, choices: Collection[str], default: str) -> str:
        """One of a few words."""
        text = self._values.get(name, default).lower()
        if text not in choices:
            raise self.error(f"{name} is {text!r}: it can be {', '.join(sorted(choices))}")
        return text

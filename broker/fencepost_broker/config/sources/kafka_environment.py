"""Settings from the environment variables of Apache Kafka's image: ``KAFKA_LOG_DIRS=/data``.

After ``KAFKA_``, an underscore is a dot, two are an underscore, and three are a hyphen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from fencepost_broker.config.setting import Value
from fencepost_broker.config.settings import Settings
from fencepost_broker.config.table import Origin, Source

PREFIX: Final = "KAFKA_"
_OTHERS: Final = {"CLUSTER_ID": "cluster.id"}
"""Variables of the image without the prefix."""
_RUNS: Final = "___|__|_"
_STANDS_FOR: Final = {"_": ".", "__": "_", "___": "-"}


def names(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the name of the setting that each variable would be, in the variables' order."""
    return {
        variable: _OTHERS.get(variable) or _name(variable)
        for variable in sorted(environment)
        if variable in _OTHERS or variable.startswith(PREFIX)
    }


def _name(variable: str) -> str:
    return re.sub(_RUNS, lambda found: _STANDS_FOR[found[0]], variable.removeprefix(PREFIX).lower())


def read(environment: Mapping[str, str]) -> Iterator[tuple[str, Value, Source]]:
    """Yield the settings; variables that are none are left out, as Kafka ignores such settings."""
    for variable, name in names(environment).items():
        if Settings.setting_of(name) is not None:
            source = Source(Origin.ENVIRONMENT, f"{variable} in the environment")
            yield name, environment[variable], source


def ignored(environment: Mapping[str, str]) -> list[str]:
    """Return a line for each variable that is no setting."""
    return [
        f"{variable} is ignored: there is no setting {name}"
        for variable, name in names(environment).items()
        if Settings.setting_of(name) is None
    ]


def defaults(environment: Mapping[str, str], has_file: bool) -> dict[str, Value]:
    """Return the image's defaults: other containers and the host reach the broker.

    As in Kafka's image, an address for clients is a default only if nothing else is given.
    """
    found: dict[str, Value] = {"listeners": ("PLAINTEXT://:9092",)}
    if not has_file and not list(read(environment)):
        found["advertised.listeners"] = ("PLAINTEXT://localhost:9092",)
    return found

"""Sources of settings: a file, then the environment, then options; later ones are stronger.

Of the environment, variables of Apache Kafka's image come before those of Fencepost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.setting import Value
from fencepost_broker.config.settings import Settings
from fencepost_broker.config.sources import kafka_environment
from fencepost_broker.config.sources.properties import Entry, read_properties
from fencepost_broker.config.table import CODE, DEFAULT, Origin, Source

if TYPE_CHECKING:
    from pathlib import Path

ENVIRONMENT_PREFIX: Final = "FENCEPOST_"
FILE_BYTES_MAX: Final = 1 << 20

# A variable of our prefix that is no setting. Kubernetes and Docker set those of the second form
# in every container when a service is called fencepost.
_NO_SETTING: Final = (
    r"FENCEPOST_TEST_.*|FENCEPOST_PASSWORD_.*"
    r"|FENCEPOST_(SERVICE_(HOST|PORT)(_.*)?|PORT(_[0-9]+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?|NAME)"
)


def load(
    config_file: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    options: Iterable[str] = (),
    overrides: Mapping[str, Value] | None = None,
    defaults: Mapping[str, Value] | None = None,
    *,
    has_kafka_environment: bool = False,
) -> Settings:
    """Return the settings of a broker from all sources.

    ``config_file`` is TOML if its name ends in .toml, otherwise Java properties; ``environment`` is
    usually os.environ; ``options`` are those of -c, as ``name=value``; ``overrides`` come from code
    and are the strongest; ``defaults`` replace those of a broker by itself.
    ``has_kafka_environment`` reads the variables of Apache Kafka's image, too. Raises one
    SettingsError for all errors.
    """
    problems: list[str] = []
    given: list[tuple[str, Value, Source]] = []
    for read in (
        ((name, value, DEFAULT) for name, value in (defaults or {}).items()),
        _from_file(config_file),
        kafka_environment.read(environment or {} if has_kafka_environment else {}),
        _from_environment(environment or {}),
        _from_options(options),
        ((name, value, CODE) for name, value in (overrides or {}).items()),
    ):
        try:
            given.extend(read)
        except SettingsError as error:
            problems += error.problems
    try:
        settings = Settings().with_given(iter(given))
    except SettingsError as error:
        problems += error.problems
    if problems:
        raise SettingsError(problems)
    return settings


def _from_file(config_file: str | Path | None) -> Iterator[tuple[str, Value, Source]]:
    if config_file is None:
        return
    from pathlib import Path

    path = str(config_file)
    try:
        with Path(config_file).open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror}"]) from None
    if len(content) > FILE_BYTES_MAX:
        raise SettingsError([f"{path} is larger than {FILE_BYTES_MAX} bytes"])
    for name, value, line in _entries(content, path):
        yield name, value, Source(Origin.FILE, f"{path}:{line}")


def _entries(content: bytes, path: str) -> list[Entry]:
    if path.lower().endswith(".toml"):
        from fencepost_broker.config.sources.toml_file import read_toml

        return read_toml(content, path)
    return read_properties(content, path)


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Value, Source]]:
    for variable in sorted(environment):
        if variable.startswith(ENVIRONMENT_PREFIX) and not re.fullmatch(_NO_SETTING, variable):
            name = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("_", ".")
            source = Source(Origin.ENVIRONMENT, f"{variable} in the environment")
            yield name, environment[variable], source


def _from_options(options: Iterable[str]) -> Iterator[tuple[str, Value, Source]]:
    bad: list[str] = []
    for option in options:
        name, equals, value = option.partition("=")
        name = name.strip()
        if not (name and equals):
            bad.append(f"-c {option}: it must be name=value")
        else:
            yield name, value, Source(Origin.OPTION, f"-c {name}")
    if bad:
        raise SettingsError(bad)

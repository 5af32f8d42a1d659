"""Writes what each release of Apache Kafka answers to ApiVersions (`make personas`)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from fencepost_broker.config.values import releases
from fencepost_protocol.apis import WITHOUT_SCHEMA
from fencepost_protocol.generated.index import APIS

from tests.support.apache_releases import VERSIONS, Told, apache_release, told_by

TABLE: Final = Path(releases.__file__).with_name("release_table.py")
_OF_ZOOKEEPER_MODE: Final = {
    4: "LeaderAndIsr",
    5: "StopReplica",
    6: "UpdateMetadata",
    7: "ControlledShutdown",
}
NAMES: Final = {key: entry[0] for key, entry in APIS.items()} | WITHOUT_SCHEMA | _OF_ZOOKEEPER_MODE
HEAD: Final = '''\
"""What releases of Apache Kafka answer to ApiVersions. Written by `make personas`; do not edit.

A cell is the lowest and the highest version of an API, or level of a feature; ``=`` is followed by
the finalized level of a new cluster. Asked were {versions}.
"""

from __future__ import annotations

from typing import Final

'''


def written(told: dict[str, Told]) -> str:
    """Returns the module's text."""
    keys = sorted({key for each in told.values() for key in each.apis})
    apis = [["key", "name", *told]]
    apis += [
        [str(key), NAMES[key], *(_cell(each.apis.get(key)) for each in told.values())]
        for key in keys
    ]
    features = [["feature", *told]]
    features += [
        [name, *(_level(each, name) for each in told.values())]
        for name in sorted({name for each in told.values() for name in each.supported})
    ]
    versions = ", ".join(VERSIONS[release] for release in told)
    return (
        HEAD.format(versions=versions) + f'APIS: Final = """\\\n{_lines(apis)}"""\n'
        f'FEATURES: Final = """\\\n{_lines(features)}"""\n'
    )


def _cell(versions: tuple[int, int] | None) -> str:
    return releases.ABSENT if versions is None else f"{versions[0]}-{versions[1]}"


def _level(told: Told, name: str) -> str:
    cell, level = _cell(told.supported.get(name)), told.finalized.get(name)
    return cell if level is None else f"{cell}={level}"


def _lines(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return "".join(" ".join(row).rstrip() + "\n" for row in padded)


def main() -> None:
    """Asks all of them."""
    told = {}
    for release in releases.RELEASES:
        with apache_release(release) as kafka:
            told[release] = told_by(kafka.port)
    TABLE.write_text(written(told))


if __name__ == "__main__":
    main()

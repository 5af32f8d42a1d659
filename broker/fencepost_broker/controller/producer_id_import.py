"""Import of the last producer id block of a cluster that kept it in ZooKeeper."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

_VERSION: Final = 1
_BYTES_MAX: Final = 1 << 16
_ID_MAX: Final = (1 << 63) - 1
_BROKER_MAX: Final = (1 << 31) - 1


class ImportRefusedError(ValueError):
    """A block cannot be imported; says why, and what to do."""


class ImportedBlock(NamedTuple):
    """A block as in ZooKeeper: both ends belong to it."""

    broker_id: int
    start: int
    end: int


def read_block(path: str) -> ImportedBlock:
    """Read the content of ``/latest_producer_id_block`` from a file.

    It is ``{"version":1,"broker":1,"block_start":"1000","block_end":"1999"}``.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(_BYTES_MAX + 1)
    except OSError as error:
        raise ImportRefusedError(f"{path}: {error.strerror or error}") from error
    if len(data) > _BYTES_MAX:
        raise ImportRefusedError(f"{path}: a block has no more than {_BYTES_MAX} bytes")
    try:
        found = json.loads(data)
    except ValueError as error:
        raise ImportRefusedError(f"{path}: this is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ImportRefusedError(f"{path}: this must be a JSON object with {_FIELDS}")
    version = _number(path, found, "version", _BROKER_MAX)
    if version != _VERSION:
        raise ImportRefusedError(f"{path}: version {version} is not supported, only {_VERSION}")
    block = ImportedBlock(
        _number(path, found, "broker", _BROKER_MAX),
        _number(path, found, "block_start", _ID_MAX),
        _number(path, found, "block_end", _ID_MAX),
    )
    if block.end < block.start:
        raise ImportRefusedError(
            f"{path}: block_end {block.end} is before block_start {block.start}"
        )
    return block


_FIELDS: Final = "version, broker, block_start and block_end"


def _number(path: str, found: dict[str, Any], name: str, most: int) -> int:
    """A number, or the text of one, as Kafka wrote the ends."""
    if name not in found:
        raise ImportRefusedError(f"{path}: {name} is missing; the fields are {_FIELDS}")
    value = found[name]
    is_text = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20
    number = int(value) if is_text else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= most:
        raise ImportRefusedError(f"{path}: {name} is {value!r:.60}, not a number from 0 to {most}")
    return number

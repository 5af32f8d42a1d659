"""Decodes values in a process of its own, which ends when it takes too long or too much memory."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from typing import Final

import msgspec

from fencepost_broker.server.control.values.model import (
    DecodedValue,
    DecodedValues,
    SchemaRefused,
    SchemaRefusedError,
    ValuesToDecode,
)

CPU_SECONDS_MAX: Final = 10
SECONDS_MAX: Final = 30.0
"""For a machine that has much else to do."""
_INSTALL: Final = "pip install 'fencepost[schemas]'"
_NEEDED: Final = {".avsc": ("fastavro",), ".proto": ("google.protobuf", "grpc_tools")}
"""By the end of a schema file's name, the modules that read it; others are descriptor sets."""


def decode(
    asked: ValuesToDecode, *, cpu_seconds: int = CPU_SECONDS_MAX, seconds: float = SECONDS_MAX
) -> DecodedValues:
    """Return the types of a schema, and values; raises ``SchemaRefusedError``."""
    _check_installed(asked.file)
    command = [sys.executable, "-m", __package__, str(cpu_seconds)]
    with subprocess.Popen(  # noqa: S603 (our own program)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        why = ""
        try:
            out, said = process.communicate(msgspec.json.encode(asked), timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, said = process.communicate()
            why = f"it takes longer than {seconds:g} seconds"
    if process.returncode and not why:
        why = f"decoding it takes more than {cpu_seconds} seconds or too much memory, or crashes"
        if process.returncode > 0 and b"MemoryError" not in said:
            why = said.decode(errors="replace").strip().rpartition("\n")[2]
    lines = out.split(b"\n")[:-1]
    if not lines:
        raise SchemaRefusedError(f"the schema cannot be read: {why}")
    head = msgspec.json.decode(lines[0], type=SchemaRefused | list[str])
    if isinstance(head, SchemaRefused):
        raise SchemaRefusedError(head.detail, head.advice)
    values = [msgspec.json.decode(line, type=DecodedValue) for line in lines[1:]]
    for _ in asked.values[len(values) :]:
        values.append(DecodedValue(None, problem=why))
        why = "not tried: the process ended at a value before it"
    return DecodedValues(head, values)


def _check_installed(file: str) -> None:
    _, dot, end = file.lower().rpartition(".")
    for module in _NEEDED.get(dot + end, ("google.protobuf",)):
        if not _is_there(module):
            package = module.partition(".")[0] if module != "google.protobuf" else "protobuf"
            other = " A descriptor set needs no compiler." if module == "grpc_tools" else ""
            raise SchemaRefusedError(
                f"reading it needs {package}, which is not installed", f"{_INSTALL}.{other}"
            )


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # nor is the package that it would be in
        return False

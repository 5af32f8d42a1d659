"""Writes docs/reference/histories.md: the format of histories, and what the checker finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from fencepost_protocol.codegen.page import write_or_check

from fencepost_client.histories.findings import KINDS
from fencepost_client.histories.operations import NEEDED, Operation
from fencepost_client.histories.reading import LINE_BYTES_MAX, header

PAGE: Final = Path(__file__).resolve().parents[3] / "docs/reference/histories.md"
_MEANINGS: Final = {
    "open": "A client is ready. It has the settings that it names, and Kafka's defaults otherwise.",
    "send": "A producer sends records to one partition, in the order of `values`.",
    "poll": "A consumer is given records of one partition; none, or watermarks only, is possible.",
    "commit": "A transaction is committed.",
    "abort": "A transaction is aborted.",
    "commit_offsets": "An offset of a group is committed, alone or within a transaction.",
    "assign": "The partitions of a consumer change, and it may begin elsewhere in each.",
    "seek": "A consumer moves to `offset`; without one, to a place that nobody knows.",
    "crash": "A process ends. Nobody knows how the operations ended that it had begun.",
}
_BEGINNING: Final = f"""\
<!-- Generated from the checker by `make docs`. Do not edit. -->

# Histories

A history says what clients did, as lines of JSON in UTF-8. Any language can write one.
[Check a history](../how-to/check-a-history.md) shows how it is judged. The first line is
`{header().decode().strip()}`; each other line is an object, of at most {LINE_BYTES_MAX >> 20} MiB.
An unknown field is an error. A last line that breaks off is left out: its writer was killed.

## Lines

Lines are in the order in which things happened. An operation has one line, when it has ended, or
two: one with `"type": "invoke"` before it begins, and one when it has ended; both have the same
`process` and `id`. An operation that began and has no end counts as `info`.

Two lines are better for what changes something, since a program can be killed between the two:

- A transaction without any line of its `commit` counts as one that was never committed.
- `precommitted-read` is found only for commits that have an `invoke` line.
- `fenced-write` is found only for writes that have an `invoke` line.

A program may write a history for each of its processes; then each line has a `time`, and the
checker merges the files by it. The times of several machines must agree.

"""
_FINDINGS: Final = """\
## Findings

A finding is *expected* if a setting that the history names explains it: an aborted read of a
read-uncommitted reader, a duplicate of a producer that is not idempotent, a loss with `acks=1`.
Expected findings are told, and are no failure. `--allow KIND` makes all findings of a kind
expected, and `--strict` none. G0, G1a, G1b and G1c are Adya's names.

| finding | meaning | to blame |
|---|---|---|
"""
_EXACTLY_ONCE: Final = """\

The last findings about sources and outputs need `--source` and `--target`: the topics of a program
that consumes, transforms and produces. An output names its source record by its value: the first
group of `--names`, a regular expression. By default, an output has the same value as its source.

## What is not judged

- A value that was sent several times is one of several records. Where their offsets do not tell
  them apart, they count together: as many as were sent may be in the log.
- A record that retention or compaction has removed looks like a lost one, and a gap that a
  transaction's marker leaves is none. Read before the log is cleaned.
- A record whose send or transaction has an unknown end may be there or not. If a read-committed
  reader was given a part of a transaction, it was committed.
- A record without an offset from its sender, as with `acks=0`, is never called lost.
"""


def page() -> str:
    """The text of the page."""
    lines = ["| `op` | meaning | needs |", "|---|---|---|"]
    for kind, needed in NEEDED.items():
        names = ", ".join(f"`{name}`" for name in needed)
        lines.append(f"| `{kind}` | {_MEANINGS[kind]} | {names} |")
    lines += ["", "| field | meaning | default |", "|---|---|---|", *_fields(), ""]
    findings = [f"| `{kind}` | {told.meaning} | {told.blame}. |" for kind, told in KINDS.items()]
    return "\n".join(
        [_BEGINNING + lines[0], *lines[1:], _FINDINGS + findings[0], *findings[1:]]
    ) + ("\n" + _EXACTLY_ONCE)


def _fields() -> Iterator[str]:
    schema: dict[str, Any] = msgspec.json.schema(Operation)["$defs"]["Operation"]
    for name, field in schema["properties"].items():
        default = "required"
        if name not in schema["required"]:
            default = f"`{msgspec.json.encode(field['default']).decode()}`"
        yield f"| `{name}` | {field['description']} | {default} |"


def main() -> int:
    """The command line."""
    return write_or_check(PAGE, page(), "docs/reference/histories.md is not what the checker says")


if __name__ == "__main__":
    raise SystemExit(main())

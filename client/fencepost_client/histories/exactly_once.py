"""Exactly-once of a program that consumes, transforms and produces."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from fencepost_client.histories.facts import UNKNOWN, Facts, State
from fencepost_client.histories.findings import Finding, Kind, Report
from fencepost_client.histories.operations import Name

ANY: Final = "(.*)"


@dataclass(frozen=True, slots=True)
class Transform:
    """A program's topics, and how a target value names the source value that it comes from."""

    source: str
    target: str
    names: str = ANY
    """A regular expression: its first group is the source value."""

    def __post_init__(self) -> None:
        """Refuse an expression without a group."""
        try:
            groups = re.compile(self.names).groups
        except re.error as error:
            raise ValueError(f"{self.names!r} is no regular expression: {error}") from error
        if not groups:
            raise ValueError(f"{self.names!r} has no group for the source value, such as (.*)")


def check_exactly_once(facts: Facts, transform: Transform, report: Report) -> None:
    """Compare source records, their outputs, and the offsets that groups have committed."""
    outputs = _outputs(facts, transform, report)
    committed: dict[int, int] = defaultdict(int)
    for _, place, offset, transaction in facts.commits:
        if transaction == UNKNOWN or facts.ends[transaction] == State.COMMITTED:
            committed[place] = max(committed[place], offset)
    for number, partition in enumerate(facts.partitions):
        if partition.topic != transform.source:
            continue
        for offset, record in sorted(partition.log.items()):
            found = outputs.pop(str(facts.values[record]), [])
            if facts.outcome(record) != State.COMMITTED:
                continue
            if not found and offset >= committed.get(number, 0):
                report.unprocessed += 1
            else:
                _check_record(facts, record, found, committed.get(number), report)
    for value, found in outputs.items():
        report.add(
            Finding(
                Kind.OUTPUT_WITHOUT_SOURCE,
                f"{facts.sent(found[0])}, and no record of {transform.source} is {value!r:.80}",
                (facts.sent(found[0]),),
            )
        )
    if report.unprocessed:
        waiting = f"{report.unprocessed:,} records"
        report.notes.append(f"{waiting} of {transform.source} were not processed yet")


def _check_record(
    facts: Facts, record: int, found: list[int], committed: int | None, report: Report
) -> None:
    source = facts.sent(record)
    steps = (source, *(facts.sent(each) for each in found))
    if not found:
        after = f"a group committed offset {committed}"
        text = f"{after}, and {facts.told(record)} has no output"
        report.add(Finding(Kind.OFFSETS_WITHOUT_OUTPUT, text, (source, after, "no output")))
    if len(found) > 1:
        places = " and ".join(facts.told(each) for each in found)
        text = f"{facts.told(record)} has {len(found)} outputs: {places}"
        report.add(Finding(Kind.DOUBLE_OUTPUT, text, steps))
    # A history without offsets at all is one of a program that keeps them elsewhere.
    if found and facts.commits and facts.offset[record] >= (committed or 0):
        text = (
            f"{facts.told(record)} has its output, and its group committed {committed or 'nothing'}"
        )
        report.add(Finding(Kind.OUTPUT_WITHOUT_OFFSETS, text, (*steps, "no offset after it")))


def _outputs(facts: Facts, transform: Transform, report: Report) -> dict[str, list[int]]:
    """The visible records of the target, by the source value that they name."""
    find = re.compile(transform.names).search
    outputs: dict[str, list[int]] = defaultdict(list)
    nameless: list[Name] = []
    for partition in facts.partitions:
        if partition.topic != transform.target:
            continue
        for record in partition.log.values():
            if facts.outcome(record) == State.COMMITTED:
                match = find(str(facts.values[record]))
                if match is None or match[1] is None:
                    nameless.append(facts.values[record])
                else:
                    outputs[match[1]].append(record)
    if nameless:
        report.notes.append(
            f"{len(nameless):,} records of {transform.target}, such as {nameless[0]!r:.80}, name "
            f"no source record by {transform.names!r}"
        )
    return outputs

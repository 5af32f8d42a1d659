"""``check``: judges a history."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost_client.histories.exactly_once import Transform, check_exactly_once
from fencepost_client.histories.findings import Kind, Report
from fencepost_client.histories.ingest import Ingest
from fencepost_client.histories.operations import Operation
from fencepost_client.histories.records import check_records, settle
from fencepost_client.histories.transactions import check_cycles


def check(
    history: Iterable[Operation],
    *,
    transform: Transform | None = None,
    allow: Iterable[Kind | str] = (),
    strict: bool = False,
) -> Report:
    """Judge a history: what was lost, doubled, torn, or read too early.

        report = check(read_history(file), transform=Transform("orders", "invoices"))
        assert report.holds, report

    ``allow`` names kinds that are no failure here. With ``strict``, findings that the settings of
    the clients explain are failures, too.
    """
    report = Report(allowed=frozenset(Kind(each) for each in allow), strict=strict)
    facts = Ingest(report).take_all(history)
    settle(facts)
    check_records(facts, report)
    check_cycles(facts, report)
    if transform is not None:
        check_exactly_once(facts, transform, report)
    report.operations = facts.line
    report.transactions = len(facts.transactions)
    if not facts.partitions:
        report.notes.append("nothing was sent or polled: there is nothing to judge")
    return report

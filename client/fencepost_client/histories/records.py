"""Compares what was sent with what readers were given."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence

from fencepost_client.histories.facts import UNKNOWN, Facts, Partition, Session, State
from fencepost_client.histories.findings import Finding, Kind, Report
from fencepost_client.histories.ingest import NOT_IDEMPOTENT
from fencepost_client.histories.operations import Name

READ_UNCOMMITTED = "its reader is read_uncommitted"


def settle(facts: Facts) -> None:
    """Connect sends with what was seen; a transaction that a reader has seen was committed."""
    facts.adopt()
    for partition in facts.partitions:
        log = partition.log
        for session in partition.sessions:
            for offset in session.offsets:
                record = log[offset]
                facts.seen[record] = 1
                if not session.read_committed:
                    continue
                transaction = facts.transaction[record]
                if transaction != UNKNOWN:
                    if facts.ends[transaction] == State.UNCERTAIN:
                        facts.ends[transaction] = State.COMMITTED
                elif facts.state[record] == State.UNCERTAIN:
                    facts.state[record] = State.COMMITTED


def check_records(facts: Facts, report: Report) -> None:
    """Lost and unseen writes, duplicates, offsets with two values, and all that readers saw."""
    _check_offsets(facts, report)
    _check_duplicates(facts, report)
    for partition in facts.partitions:
        for session in partition.sessions:
            _check_reads(facts, partition, session, report)
    _check_gaps(facts, report)


def _check_offsets(facts: Facts, report: Report) -> None:
    told: set[tuple[int, int, Name, Name]] = set()
    for partition, offset, first, second in facts.two_values:
        values = facts.values[first], facts.values[second]
        if (partition, offset, *values) in told:
            continue
        told.update({(partition, offset, *values), (partition, offset, *values[::-1])})
        place = f"{facts.partitions[partition].name} offset {offset}"
        steps = (facts.sent(first), facts.sent(second), f"both are said to be at {place}")
        text = f"{place} is {values[0]!r:.80} and {values[1]!r:.80}"
        report.add(Finding(Kind.INCONSISTENT_OFFSET, text, steps))
    displaced = {each: (place, at) for place, at, *records in facts.two_values for each in records}
    for record, (partition, offset) in displaced.items():
        there = facts.partitions[partition].log[offset]
        if (
            facts.seen[there]
            and facts.senders[record] is not None
            and facts.outcome(record) == State.COMMITTED
            and not any(facts.seen[each] for each in facts.of_same_value(record))
        ):
            _add_loss(facts, record, "readers are given another record in its place", report)


def _check_duplicates(facts: Facts, report: Report) -> None:
    told: set[int] = set()
    for seen in facts.unsent:
        same = list(facts.of_same_value(seen))
        sends = [each for each in same if each not in facts.unsent and facts.senders[each]]
        places = [each for each in same if facts.offset[each] != UNKNOWN]
        if not sends or len(places) <= len(sends) or same[0] in told:
            continue
        told.add(same[0])
        sender = facts.senders[sends[0]]
        where = sorted(
            f"{facts.partitions[facts.partition[each]].name} offset {facts.offset[each]}"
            for each in places
        )
        times = "once" if len(sends) == 1 else f"{len(sends)} times"
        report.add(
            Finding(
                Kind.DUPLICATE,
                f"{facts.values[seen]!r:.80} was sent {times} and is at {' and at '.join(where)}",
                (*(facts.sent(each) for each in sends), *(f"it is at {each}" for each in where)),
                expected=NOT_IDEMPOTENT if sender and not sender.idempotent else "",
            )
        )


def _check_reads(facts: Facts, partition: Partition, session: Session, report: Report) -> None:
    """Aborted reads (G1a), and records that were given out before their commit was asked for."""
    log, outcome = partition.log, facts.outcome
    for line, offsets in session.runs():
        for offset in offsets:
            record = log[offset]
            if outcome(record) <= State.ABORTED:
                _add_aborted_read(facts, session, record, report)
            elif session.read_committed:
                transaction = facts.transaction[record]
                if transaction != UNKNOWN and facts.commit_line[transaction] > line:
                    name = facts.transactions[transaction]
                    steps = (
                        facts.sent(record),
                        f"{session.process} is given it (line {line})",
                        f"the commit of {name} begins (line {facts.commit_line[transaction]})",
                    )
                    given = f"{session.process} was given {facts.told(record)}"
                    text = f"{given} before the commit of {name} began"
                    report.add(Finding(Kind.PRECOMMITTED_READ, text, steps))


def _add_aborted_read(facts: Facts, session: Session, record: int, report: Report) -> None:
    transaction = facts.transaction[record]
    why = "its send failed" if transaction == UNKNOWN else facts.ended(transaction)
    is_expected = transaction != UNKNOWN and not session.read_committed
    report.add(
        Finding(
            Kind.G1A,
            f"{session.process} was given {facts.told(record)}; {why}",
            (facts.sent(record), why, f"{session.process} is given the record"),
            expected=READ_UNCOMMITTED if is_expected else "",
        )
    )


def _check_gaps(facts: Facts, report: Report) -> None:
    """Records between two that a reader was given; and those that no reader was given."""
    parts_of: dict[tuple[Name, int], list[int]] = defaultdict(list)
    skipped: list[tuple[Session, Partition, list[int]]] = []
    for partition in facts.partitions:
        log = partition.log
        visible = sorted(
            offset for offset, record in log.items() if facts.outcome(record) == State.COMMITTED
        )
        for session in partition.sessions:
            if not session.offsets:
                continue
            start = bisect_left(visible, session.first)
            end = bisect_right(visible, session.offsets[-1])
            missing = set(visible[start:end]).difference(session.offsets)
            if missing:
                skipped.append((session, partition, [log[each] for each in sorted(missing)]))
        _check_unread(facts, partition, visible, report)
    if not skipped:
        return
    seen_by = _transactions_seen(facts, {session.process for session, _, _ in skipped})
    for session, partition, records in skipped:
        single = []
        for record in records:
            transaction = facts.transaction[record]
            if transaction in seen_by[session.process]:
                parts_of[session.process, transaction].append(record)
            elif facts.seen[record]:
                single.append(record)
        if single:
            _add_skip(facts, session, partition, single, report)
    for (process, transaction), records in parts_of.items():
        name = facts.transactions[transaction]
        left_out = ", ".join(facts.told(each) for each in records[:3])
        report.add(
            Finding(
                Kind.G1B,
                f"{process} was given a part of transaction {name}, and not {left_out}",
                (
                    f"transaction {name} is committed",
                    f"{process} is given a part of it",
                    *(f"{process} passes over {facts.told(each)}" for each in records[:5]),
                ),
            )
        )


def _transactions_seen(facts: Facts, processes: set[Name]) -> dict[Name, set[int]]:
    seen: dict[Name, set[int]] = {process: set() for process in processes}
    for partition in facts.partitions:
        for session in partition.sessions:
            if session.process in seen:
                found = {facts.transaction[partition.log[each]] for each in session.offsets}
                seen[session.process] |= found - {UNKNOWN}
    return seen


def _add_skip(
    facts: Facts, session: Session, partition: Partition, records: Sequence[int], report: Report
) -> None:
    offset = facts.offset[records[0]]
    place = bisect_left(session.offsets, offset)
    before = f"offset {session.offsets[place - 1]}" if place else f"its start at {session.first}"
    after = session.offsets[place]
    more = f" and {len(records) - 1} more" if len(records) > 1 else ""
    report.add(
        Finding(
            Kind.SKIPPED_POLL,
            f"{session.process} was given {partition.name} offset {after} after {before}, and not "
            f"{facts.values[records[0]]!r:.80} at {offset}{more}",
            (
                facts.sent(records[0]),
                f"another reader is given it at offset {offset}",
                f"{session.process} goes from {before} to offset {after}",
            ),
        )
    )


def _check_unread(
    facts: Facts, partition: Partition, visible: Iterable[int], report: Report
) -> None:
    unread = [offset for offset in visible if not facts.seen[partition.log[offset]]]
    if not unread:
        return
    spans = merged((each.first, each.offsets[-1]) for each in partition.sessions if each.offsets)
    starts = [first for first, _ in spans]
    for offset in unread:
        record = partition.log[offset]
        sender = facts.senders[record]
        if sender is None:
            continue
        place = bisect_right(starts, offset) - 1
        if place >= 0 and offset <= spans[place][1]:
            why = f"readers are given offsets before and after {offset}, and never it"
            _add_loss(facts, record, why, report)
        else:
            text = f"{facts.sent(record)}, and no reader came so far"
            why = "readers may have stopped before they came so far"
            report.add(Finding(Kind.UNSEEN_WRITE, text, (facts.sent(record),), expected=why))


def _add_loss(facts: Facts, record: int, why: str, report: Report) -> None:
    sender, transaction = facts.senders[record], facts.transaction[record]
    is_lenient = sender is not None and sender.acks != "all"
    end = "the send was acknowledged" if transaction == UNKNOWN else facts.ended(transaction)
    report.add(
        Finding(
            Kind.LOST_WRITE,
            f"{facts.sent(record)}, and {why}",
            (facts.sent(record), end, why),
            expected=f"its producer has acks={sender.acks}" if sender and is_lenient else "",
        )
    )


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that do not overlap and cover the same offsets, in order."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return found

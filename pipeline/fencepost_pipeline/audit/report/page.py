"""The page: first the verdicts, then the findings, then plots of the logs."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Final

from fencepost_client import report_page
from fencepost_client.report_page import Html, Status, facts, figure, how, outcome, table

from fencepost_pipeline.audit.audit_run import Audit
from fencepost_pipeline.audit.checks.last_stable_offset import stable_offset_now
from fencepost_pipeline.audit.findings import Finding, Verdict, answers
from fencepost_pipeline.audit.findings import Status as Judged
from fencepost_pipeline.audit.partition_scan import SLOT_MS, Scanned
from fencepost_pipeline.audit.phases import phase_times
from fencepost_pipeline.audit.report.findings_bytes import bytes_of
from fencepost_pipeline.audit.report.plots import (
    Span,
    Strip,
    gap_map,
    histogram,
    throughput,
    timeline,
)

FINDINGS_SHOWN: Final = 50
BYTES_SHOWN: Final = 10
"""Of each verdict: so many findings have their bytes beside them."""
IDS_DRAWN: Final = 40
STRIPS_DRAWN: Final = 60
PARTITIONS_SHOWN: Final = 500
_KINDS: Final = {Judged.HOLDS: "good", Judged.FAILS: "bad", Judged.NOT_JUDGED: "none"}


def write_report(found: Audit, path: Path, sources: Iterable[str]) -> Path:
    """Write the page; returns its path."""
    path.write_text(make_page(found, sources), encoding="utf-8")
    return path


def make_page(found: Audit, sources: Iterable[str]) -> str:
    """The whole page as text."""
    paths = list(sources)
    body = "\n".join(
        part
        for section in (
            _head(found, paths),
            _timeline(found),
            _verdicts(found),
            _findings(found),
            _phases(found),
            _throughput(found),
            _gaps(found),
            _partitions(found),
            how(
                [
                    "Counted is what the log files hold, all of their batches, and nothing that a "
                    "broker or a client says. Times are those that the batches carry."
                ],
                shlex.join(["fencepost", "audit", *map(str, paths)]),
            ),
        )
        for part in section
    )
    return report_page.make_page(
        f"Audit: {'all holds' if found.holds else 'something fails'}", body
    )


def _head(found: Audit, sources: Iterable[str]) -> Iterator[str]:
    summaries = [scanned.summary for scanned in found.partitions]
    yield "<h1>Did exactly-once hold?</h1>"
    paths = ", ".join(f"<code>{escape(str(Path(source).resolve()))}</code>" for source in sources)
    yield f'<p class="soft">An audit of the log files in {paths}.</p>'
    yield outcome(
        Status(f"{answer.question.capitalize()}: {answer.text}.", _KINDS[answer.status])
        for answer in answers(found.verdicts)
    )
    times = [s.first_time for s in summaries if s.first_time >= 0]
    last = max((s.last_time for s in summaries), default=-1)
    yield facts({
        "partitions": f"{len(summaries):,}",
        "bytes": f"{sum(s.bytes for s in summaries):,}",
        "records": f"{sum(s.records for s in summaries):,}",
        "batches": f"{sum(s.batches for s in summaries):,}",
        "transactions": f"{found.transactions.num_rows:,}",
        "from": _when(min(times, default=-1)),
        "to": _when(last),
    })  # fmt: skip


def _verdicts(found: Audit) -> Iterator[str]:
    yield "<h2>Verdicts</h2>"
    yield (
        "<p>Each line is something that must be true of every log. <em>Looked at</em> counts the "
        "batches, transactions, markers or records that it was compared with.</p>"
        '<p class="soft">A <em>producer</em> numbers what it writes to a partition; its '
        "<em>epoch</em> grows when another instance takes its place, and whoever writes with an "
        "older one is a zombie. A <em>transaction</em> ends in each of its partitions with a "
        "<em>marker</em>, commit or abort, as its <em>coordinator</em> decided and wrote down "
        "in a log of its own.</p>"
    )
    yield table(
        ("verdict", "what must hold", "looked at", "offences"), map(_verdict, found.verdicts)
    )


def _verdict(verdict: Verdict) -> Sequence[object]:
    notes = "".join(f'<br><span class="soft">{escape(note)}</span>' for note in verdict.notes)
    what = Html(f'{escape(verdict.meaning)} <code class="soft">{verdict.invariant}</code>{notes}')
    status = Status(verdict.status, _KINDS[verdict.status])
    return status, what, verdict.checked, verdict.count or ""


def _findings(found: Audit) -> Iterator[str]:
    failed = [verdict for verdict in found.verdicts if verdict.count]
    if not failed:
        return
    yield "<h2>What is wrong</h2>"
    for verdict in failed:
        yield f"<details open><summary>{escape(verdict.meaning)}: "
        yield f"{_counted(verdict.count, 'offence')}</summary>"
        yield table(
            ("where", "what", "file"),
            (
                _finding(finding, with_bytes=number < BYTES_SHOWN)
                for number, finding in enumerate(verdict.findings[:FINDINGS_SHOWN])
            ),
        )
        if verdict.count > FINDINGS_SHOWN:
            rest = verdict.count - FINDINGS_SHOWN
            yield f'<p class="soft">And {rest:,} more: <code>findings.parquet</code>.</p>'
        yield "</details>"


def _finding(finding: Finding, *, with_bytes: bool) -> Sequence[object]:
    owner = ""
    if finding.transactional_id and finding.topic:
        owner = f" <span class=soft>({escape(finding.transactional_id)})</span>"
    segment = str(Path(finding.segment).resolve()) if finding.segment else ""
    file = f"<code class=soft>{escape(segment)}</code>"
    content = bytes_of(finding) if with_bytes else ""
    if content:
        file = (
            f"<details><summary>its bytes in {file}</summary><pre>{escape(content)}</pre></details>"
        )
    return (
        Html(f"<code>{escape(finding.place)}</code>"),
        Html(f"{escape(finding.text)}{owner}"),
        Html(file),
    )


def _timeline(found: Audit) -> Iterator[str]:
    rows = found.transactions.to_pylist()
    if not rows:
        return
    yield "<h2>Transactions</h2>"
    times = [row["begin"] for row in rows] + [row["complete"] for row in rows]
    known = [time for time in times if time >= 0]
    if not known:
        return
    start, end = min(known), max(known)
    often = Counter(row["transactional_id"] for row in rows)
    drawn = {name for name, _ in often.most_common(IDS_DRAWN)}
    spans = [
        Span(
            row["transactional_id"],
            row["begin"],
            max(row["complete"], row["prepare"]) if row["outcome"] != "open" else end,
            row["outcome"],
            f"{row['outcome']}, {row['records']} records in {row['partitions']} partitions, "
            f"producer {row['producer_id']} epoch {row['producer_epoch']}, {_when(row['begin'])}",
        )
        for row in rows
        if row["transactional_id"] in drawn
    ]
    outcomes = Counter(row["outcome"] for row in rows)
    told = ", ".join(
        f'<span class="key {kind}"></span>{outcomes[kind]:,} {word}'
        for kind, word in (("commit", "committed"), ("abort", "aborted"), ("open", "open"))
    )
    rest = f" The {IDS_DRAWN} busiest of {len(often):,} ids." if len(often) > IDS_DRAWN else ""
    caption = f"From begin to completion, a row for each transactional id:{told}.{rest}"
    yield figure(Html(caption), timeline(spans, start, end))


def _phases(found: Audit) -> Iterator[str]:
    times = phase_times(found.transactions)
    if not any(len(each) for each in times.values()):
        return
    yield "<h2>How long each phase took</h2>"
    yield (
        "<p>By the times in the logs: a transaction <em>begins</em> when its coordinator notes it, "
        "is decided by <em>prepare</em>, and <em>complete</em> when every partition has its "
        "marker. The first write has the producer's clock, all others are brokers' clocks; a write "
        "that itself began its transaction counts as 0 ms behind the begin.</p>"
    )
    yield figure("", "".join(histogram(each, name) for name, each in times.items()))


def _throughput(found: Audit) -> Iterator[str]:
    slots: dict[int, int] = defaultdict(int)
    for scanned in found.partitions:
        if not scanned.summary.topic.startswith("__"):
            for slot, (records, _) in scanned.summary.slots.items():
                slots[slot] += records
    if not slots:
        return
    yield "<h2>Throughput</h2>"
    caption = "Records per second by their own times, internal topics left out."
    yield figure(caption, throughput(slots, SLOT_MS))


def _gaps(found: Audit) -> Iterator[str]:
    wrong: dict[tuple[str, int], list[tuple[int, str]]] = defaultdict(list)
    for verdict in found.verdicts:
        for finding in verdict.findings:
            if finding.offset >= 0:
                place = finding.topic, finding.partition
                wrong[place].append((finding.offset, f"{finding.place}: {finding.text}"))
    strips = []
    for scanned in found.partitions:
        summary = scanned.summary
        place = summary.topic, summary.partition
        name = f"{summary.topic}-{summary.partition}"
        strips.append(
            Strip(name, max(summary.start_offset, 0), summary.end_offset, summary.holes,
                  wrong.get(place, [])[:FINDINGS_SHOWN])
        )  # fmt: skip
    strips.sort(key=lambda s: (not s.findings, not s.holes, not s.start, s.name.startswith("__")))
    shown = [strip for strip in strips if strip.end][:STRIPS_DRAWN]
    if not shown:
        return
    rest = f" {len(shown)} of {len(strips)} partitions." if len(shown) < len(strips) else ""
    yield "<h2>What is there</h2>"
    yield figure(
        "Each partition from offset 0 to its end. Hatched: not there, taken by retention or "
        f"compaction. Red: what is wrong.{rest}",
        gap_map(shown),
    )


def _partitions(found: Audit) -> Iterator[str]:
    yield "<h2>Partitions</h2>"
    yield (
        "<p><em>Stable</em> is the last stable offset by the log alone: read-committed consumers "
        "get no further, since the transaction that begins there is open.</p>"
    )
    headings = ("partition", "start", "end", "stable", "batches", "records", "bytes", "producers")
    yield table(headings, map(_partition, found.partitions[:PARTITIONS_SHOWN]))
    if len(found.partitions) > PARTITIONS_SHOWN:
        yield '<p class="soft">All are in <code>partitions.parquet</code>.</p>'


def _partition(scanned: Scanned) -> Sequence[object]:
    s = scanned.summary
    return (
        f"{s.topic}-{s.partition}", max(s.start_offset, 0), s.end_offset,
        stable_offset_now(scanned), s.batches, s.records, s.bytes, len(s.producer_ids),
    )  # fmt: skip


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def _when(time_ms: int) -> str:
    if time_ms < 0:
        return "unknown"
    try:
        return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return f"{time_ms} ms"

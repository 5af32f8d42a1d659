"""``fencepost audit``: proves from log files that exactly-once held, or shows where it did not."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fencepost_protocol.commands import Command, help_as_written

from fencepost_pipeline.audit.findings import answers

if TYPE_CHECKING:
    from fencepost_pipeline.audit.audit_run import Audit, Wishes
    from fencepost_pipeline.audit.data_directories import DataDirectory
    from fencepost_pipeline.audit.findings import Verdict

HOLDS: Final = 0
FAILS: Final = 1
UNREADABLE: Final = 2
SHOWN: Final = 10
"""The number of findings that are printed for an invariant; the tables have more."""

DESCRIPTION: Final = """\
Prove from the log files of a broker, Fencepost's or Apache Kafka's, that exactly-once held: no
sequence number missing or twice, no zombie's write, every transaction ended everywhere as its
coordinator decided. Files are only read; a broker may be running.
"""
EPILOG: Final = """\
examples:
  fencepost audit /var/lib/kafka/data
  fencepost audit data --out audit         report.html and Parquet tables in the folder audit
  fencepost audit data --trace told.jsonl  and nothing that clients were told is lost
  fencepost audit data --group billing --input orders --output invoices --id header:order-id
exit code: 0 all that could be judged holds, 1 something fails, 2 the input cannot be read
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.add_argument(
        "paths", nargs="+", metavar="DATA_DIR",
        help="log.dirs of one or more brokers, or folders of single partitions",
    )  # fmt: skip
    parser.add_argument("--trace", metavar="FILE", help="what clients were told, as JSON lines")
    parser.add_argument("--out", metavar="DIR", help="where a report and tables are written to")
    parser.add_argument("--group", help="a program's group: are its offsets and output together?")
    parser.add_argument("--input", metavar="TOPIC", help="what that program reads")
    parser.add_argument("--output", metavar="TOPIC", help="what it writes")
    parser.add_argument(
        "--id", default="key", metavar="WHERE",
        help="where output has the id of its input: key, value, header:NAME, json:FIELD (key)",
    )  # fmt: skip
    parser.add_argument("--input-id", metavar="WHERE", help="where input has it, if elsewhere")
    parser.add_argument(
        "--now", type=int, metavar="MS",
        help="the time for what is open (the latest in the coordinators' logs), ms since 1970",
    )  # fmt: skip
    parser.add_argument(
        "--producer-expiry-ms", type=int, default=86_400_000, metavar="MS",
        help="the brokers' producer.id.expiration.ms (a day)",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Run the audit; returns the exit code."""
    try:
        check_paths(options)
    except UsageError as error:
        _complain(str(error))
        return UNREADABLE
    try:
        import numpy as np  # noqa: F401
        import pyarrow as pa  # noqa: F401
    except ImportError as error:
        _complain(
            f"{error.name} is missing: pip install 'fencepost[audit]' (or 'fencepost[spark]')"
        )
        return UNREADABLE
    from fencepost_client.progress import Progress

    from fencepost_pipeline.audit.audit_run import audit
    from fencepost_pipeline.audit.client_trace import TraceError
    from fencepost_pipeline.audit.data_directories import DataDirectory
    from fencepost_pipeline.segments import UnreadablePathError

    try:
        wishes = make_wishes(options)
        out = prepare(options.out)
        logs = DataDirectory(options.paths)
        check_topics(wishes, logs.partitions())
        with Progress(bytes_to_read(wishes, logs), "bytes", sys.stderr) as progress:
            found = audit(logs, wishes, progress)
    except (UnreadablePathError, TraceError, UsageError) as error:
        _complain(str(error))
        return UNREADABLE
    return conclude(found, out, options.paths)


def conclude(found: Audit, out: Path | None, paths: list[str]) -> int:
    """Print and write the results; returns the exit code."""
    _tell(found)
    if out is not None:
        _write(found, out, paths)
    return HOLDS if found.holds else FAILS


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


def _complain(line: str) -> None:
    sys.stderr.write(f"fencepost audit: {line}\n")


class UsageError(Exception):
    """The options are invalid."""


def check_paths(options: argparse.Namespace) -> None:
    """Refuse paths that are not there, before all that takes time or may be missing itself."""
    for path in [*options.paths, *([options.trace] if options.trace else [])]:
        try:
            Path(path).stat()
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{path} cannot be read: {getattr(error, 'strerror', None) or error}"
            ) from error


def make_wishes(options: argparse.Namespace) -> Wishes:
    """What the options ask for; raises what is wrong with them."""
    from fencepost_pipeline.audit.audit_run import Wishes
    from fencepost_pipeline.audit.checks.consume_transform_produce import Transform, check_id_kind
    from fencepost_pipeline.audit.client_trace import read_trace

    named = [options.group, options.input, options.output]
    transform = None
    if any(named):
        if not all(named):
            raise UsageError("--group, --input and --output go together")
        try:
            output_id = check_id_kind(options.id)
            input_id = check_id_kind(options.input_id or options.id)
        except ValueError as error:
            raise UsageError(str(error)) from error
        transform = Transform(
            options.group, options.input, options.output, input_id=input_id, output_id=output_id
        )
    trace = read_trace(Path(options.trace)) if options.trace else None
    return Wishes(options.producer_expiry_ms, options.now, trace, transform)


def check_topics(wishes: Wishes, partitions: list[tuple[str, int]]) -> None:
    """Refuse names that are nobody's: nothing that is said of them could fail."""
    if wishes.transform is None:
        return
    there = sorted({topic for topic, _ in partitions})
    for option, topic in (("input", wishes.transform.input), ("output", wishes.transform.output)):
        if topic not in there:
            own = ", ".join(name for name in there if not name.startswith("__")) or "none"
            raise UsageError(
                f"--{option} {topic}: there is no log of this topic in the directories (there are: "
                f"{own}); correct the name, or name all brokers' log.dirs"
            )


def prepare(out: str | None) -> Path | None:
    """Make the folder before an hour of work, not after it."""
    if out is None:
        return None
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}") from error
    return folder


def bytes_to_read(wishes: Wishes, logs: DataDirectory) -> int:
    """All of the logs once, and those of one program's topics a second time."""
    from fencepost_pipeline.audit.checks.consume_transform_produce import OFFSETS_TOPIC

    if wishes.transform is None:
        return logs.size()
    return logs.size() + logs.size(wishes.transform.input, wishes.transform.output, OFFSETS_TOPIC)


def _tell(found: Audit) -> None:
    total = [s.summary for s in found.partitions]
    size = sum(summary.bytes for summary in total)
    records = sum(summary.records for summary in total)
    _say(
        f"{len(total)} partitions, {size:,} bytes, {records:,} records, "
        f"{found.transactions.num_rows:,} transactions"
    )
    for verdict in found.verdicts:
        _tell_verdict(verdict)
    _say("did exactly-once hold?")
    for answer in answers(found.verdicts):
        _say(f"  {answer}")


def _tell_verdict(verdict: Verdict) -> None:
    _say(f"{verdict.status:10}  {verdict.invariant:27}  {verdict.checked:>10,}  {verdict.meaning}")
    for finding in verdict.findings[:SHOWN]:
        _say(f"    {finding.place}: {finding.text}")
        if finding.transactional_id and finding.topic:
            _say(f"        transactional id {finding.transactional_id}")
        if finding.segment:
            _say(f"        in {finding.segment}")
    if verdict.count > SHOWN:
        _say(f"    and {verdict.count - SHOWN:,} more")
    for note in verdict.notes:
        _say(f"    ({note})")


def _write(found: Audit, folder: Path, paths: list[str]) -> None:
    from fencepost_pipeline.audit.parquet_tables import write_tables
    from fencepost_pipeline.audit.report.page import write_report

    report = write_report(found, folder / "report.html", paths)
    write_tables(found, folder)
    _say(f"report: {report}")


COMMAND: Final = Command("audit", "prove from log files that exactly-once held", add_arguments, run)

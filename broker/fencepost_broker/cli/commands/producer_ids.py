"""``fencepost producer-ids``: which broker got which block of producer ids, and when."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from fencepost_protocol.commands import Command, help_as_written

if TYPE_CHECKING:
    from fencepost_broker.cli.producer_id_history import History

EXIT_OVERLAP: Final = 1
EXIT_USAGE: Final = 2

EPILOG: Final = """\
examples:
  fencepost producer-ids history data
  fencepost producer-ids history /var/lib/kafka/metadata --json
exit code: 0 no blocks overlap, 1 some blocks overlap, 2 no readable metadata log
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommand ``history`` and its options."""
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    kinds = parser.add_subparsers(dest="kind", required=True)
    history = kinds.add_parser(
        "history",
        help="list the allocated blocks, as far back as the metadata log goes",
        epilog=EPILOG,
        formatter_class=help_as_written,
    )
    history.add_argument(
        "data_dir",
        metavar="DATA_DIR",
        help="a controller's data directory (Fencepost's or Apache Kafka's)",
    )
    history.add_argument("--json", action="store_true", help="one JSON object")


def run(options: argparse.Namespace) -> int:
    """Print the blocks; the exit code says whether some overlap."""
    from fencepost_broker.cli.producer_id_history import NoMetadataLogError, read_history
    from fencepost_broker.storage.log import StorageError

    try:
        history = read_history(options.data_dir)
    except (NoMetadataLogError, StorageError) as error:
        sys.stderr.write(f"fencepost producer-ids history: {error}\n")
        return EXIT_USAGE
    text = _as_json(history) if options.json else _as_table(history)
    sys.stdout.write(f"{text}\n")
    return EXIT_OVERLAP if history.overlaps else 0


def _as_json(history: History) -> str:
    return json.dumps(
        {
            "first_offset": history.first_offset,
            "is_whole": history.is_whole,
            "blocks": [each._asdict() for each in history.blocks],
            "overlaps": [
                {"block": late._asdict(), "with": early._asdict()}
                for early, late in history.overlaps
            ],
        }
    )


def _as_table(history: History) -> str:
    lines = []
    if not history.is_whole:
        lines.append(
            f"The log begins at offset {history.first_offset}: earlier records are in a snapshot, "
            "which has the latest block only."
        )
    rows = [("OFFSET", "TIME", "BROKER", "EPOCH", "FIRST ID", "LAST ID")]
    for block in history.blocks:
        time = datetime.fromtimestamp(block.timestamp_ms / 1000, UTC)
        rows.append(
            (
                "snapshot" if block.offset < 0 else str(block.offset),
                time.isoformat(timespec="milliseconds"),
                str(block.broker_id),
                str(block.broker_epoch),
                "?" if block.first_id is None else str(block.first_id),
                str(block.last_id),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines += [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    for early, late in history.overlaps:
        lines.append(
            f"OVERLAP: at offset {late.offset}, broker {late.broker_id} got a block that ends at id"
            f" {late.last_id}; broker {early.broker_id} already had ids up to {early.last_id}"
        )
    if not history.overlaps:
        lines.append(f"{len(history.blocks)} blocks; none overlaps another.")
    return "\n".join(lines)


COMMAND: Final = Command(
    "producer-ids", "show which broker got which producer ids", add_arguments, run
)

"""How long one request may keep everybody else waiting; writes docs/bench/stalls.md.

python -m tests.bench.stalls [--count 100000] [--only Fetch] [--show 20]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.batch import TRANSACTIONAL_FLAG, set_producer_state
from fencepost_protocol.records.compression import Compression, compress

from tests.bench.stalls.measuring import Measured, TurnsSelector, framed, measure, run
from tests.bench.stalls.requests import GROUP, TOPIC, TRANSACTIONAL_ID, Case, cases
from tests.bench.table import markdown_table, plain_table
from tests.hostile.batch_harness import SMALLEST, with_body
from tests.support.broker import RunningBroker, running_broker

PAGE: Final = Path(__file__).resolve().parents[3] / "docs/bench/stalls.md"
LONGEST_MS: Final = 50.0
"""No request may keep others waiting for longer: the command fails if one does."""
BOMBS: Final = 1_000
"""Small batches that unpack to as many records as are still counted, in one Produce."""
BOMB_RECORDS: Final = 149_000


class Row(NamedTuple):
    """One kind of request, and what it costs."""

    api: str
    label: str
    version: int
    found: Measured


async def measured(case: Case, turns: TurnsSelector, count: int) -> Measured:
    """One case, on a broker of its own."""
    async with running_broker(topics={TOPIC: 1}) as broker:
        producer = await _coordinators(broker)
        message = case.make(count, producer)
        frame = framed(message, case.version)
        del message
        is_answered = dict(case.changes).get("Acks") != 0
        return await measure(broker, turns, frame, is_answered=is_answered)


async def measured_bombs(turns: TurnsSelector, *, in_transaction: bool) -> Row:
    """A Produce of batches that are a few bytes each, and long to look at."""
    body = compress(Compression.ZSTD, SMALLEST * BOMB_RECORDS)
    attributes = TRANSACTIONAL_FLAG if in_transaction else 0
    bomb = bytearray(with_body(body, Compression.ZSTD, BOMB_RECORDS, attributes))
    name = TRANSACTIONAL_ID if in_transaction else None
    async with running_broker(topics={TOPIC: BOMBS}) as broker:
        if in_transaction:
            producer = await _coordinators(broker)
            set_producer_state(bomb, producer["ProducerId"], producer["ProducerEpoch"], 0)
        data = [PartitionProduceData(number, bytes(bomb)) for number in range(BOMBS)]
        message = ProduceRequest(name, -1, 1_000, [TopicProduceData(TOPIC, partition_data=data)])
        found = await measure(broker, turns, framed(message, 12))
        ends = {each.log.log_end_offset for each in broker.server.table.by_name[TOPIC].partitions}
        assert ends == {BOMB_RECORDS}
    where = " in a transaction" if in_transaction else ""
    label = f"Produce{where}, {BOMBS:,} batches of {BOMB_RECORDS:,} records"
    return Row(label, label, 12, found)


async def _coordinators(broker: RunningBroker) -> dict[str, Any]:
    """Have coordinators, and a producer with a transactional id."""
    for key, key_type in ((GROUP, 0), (TRANSACTIONAL_ID, 1)):
        for _ in range(2):
            await broker.ask(FindCoordinatorRequest(key, key_type), 3)
    answer = await broker.ask(InitProducerIdRequest(TRANSACTIONAL_ID, 60_000), 4)
    return {
        name: value
        for prefix in ("", "V3AndBelow")
        for name, value in (
            (f"{prefix}ProducerId", answer.producer_id),
            (f"{prefix}ProducerEpoch", answer.producer_epoch),
        )
    }


def worst_by_api(rows: Sequence[Row]) -> list[Row]:
    """Of each API the request that keeps the loop longest, worst first."""
    worst: dict[str, Row] = {}
    for row in rows:
        name = row.api
        if name not in worst or worst[name].found.longest_ms < row.found.longest_ms:
            worst[name] = row
    return sorted(worst.values(), key=lambda row: -row.found.longest_ms)


HEAD = ("API and array", "version", "frame, MB", "longest turn, ms", "all turns, ms")


def cells(row: Row) -> list[str]:
    found = row.found
    closed = " (closed)" if found.is_refused else ""
    return [
        f"{row.label}{closed}", str(row.version), f"{found.frame_bytes / 1e6:.1f}",
        f"{found.longest_ms:.0f}", f"{found.total_ms:.0f}",
    ]  # fmt: skip


def main() -> int:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true", help="every request, not an API's worst")
    options = parser.parse_args()
    rows: list[Row] = []

    async def all_cases(turns: TurnsSelector) -> None:
        for case in cases():
            if options.only and not case.api.startswith(options.only):
                continue
            found = await measured(case, turns, options.count)
            rows.append(Row(case.api, case.label, case.version, found))
            print(
                f"{case.label}: {found.longest_ms:.0f} ms of {found.total_ms:.0f}"
                f" refused={found.is_refused} answer={found.answer_bytes}",
                flush=True,
            )
        if options.only in ("", "Produce"):
            rows.append(await measured_bombs(turns, in_transaction=False))
            rows.append(await measured_bombs(turns, in_transaction=True))

    run(all_cases)
    shown = rows if options.all else worst_by_api(rows)
    print(plain_table(HEAD, [cells(row) for row in shown]))
    if not options.only:
        write_page(rows, options.count)
    too_long = [row for row in rows if row.found.longest_ms > LONGEST_MS]
    for row in too_long:
        told = f"{row.label} kept others waiting for {row.found.longest_ms:.0f} ms"
        print(told, file=sys.stderr)
    return 1 if too_long else 0


def write_page(rows: Sequence[Row], count: int) -> None:
    """Replace the page."""
    table = markdown_table(HEAD, [cells(row) for row in worst_by_api(rows)])
    PAGE.write_text(_PAGE.format(count=f"{count:,}", table=table), encoding="utf-8")


_PAGE: Final = """\
# How long one request keeps others waiting

Made by `make bench-stalls`. Of each API the worst of its requests in which one array has {count}
elements, whichever array that is: names of their own, or one name over and over. The command fails
if one of them takes a turn of more than 50 ms. A turn is what the
loop does between two looks for events, in processor time of its thread; where Python looked for
garbage for longer than that, that counts. Others wait for the longest turn; of the rest they get
their share (and up to 5 ms, Python's switch of threads, while a thread of the broker's works).

{table}
"""


if __name__ == "__main__":
    raise SystemExit(main())

"""The picture of README: what a terminal shows of a transaction whose markers are held back.

`make pictures` runs the commands and draws what they printed.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from html import escape
from pathlib import Path
from typing import Final

from fencepost_broker import Broker
from fencepost_client import Producer

OUT: Final = Path(__file__).with_name("transaction.svg")
PORT: Final = 9092
EXPLAIN: Final = "fencepost transactions explain payments"
WIDTH, LINE, LEFT, TOP, LETTER = 900, 19, 18, 46, 13
COLOURS: Final = {"$": "#8ddb8c", "#": "#8b949e"}
"""By a line's first letter: commands and remarks."""


async def main() -> None:
    """Run a transaction, look at it while its markers are held, and draw that."""
    lines = ["# a producer commits; a test holds back the marker of orders-0"]
    async with (
        Broker(topics={"orders": 2}, port=PORT) as broker,
        Producer(broker.bootstrap, transactional_id="payments") as producer,
    ):
        hold = broker.hold_markers(topic="orders", partition=0)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_commit(producer))
            await _until_held(broker)
            lines += await _run(EXPLAIN)
            hold.release()
        lines += ["", "# the marker is let go", *await _run(EXPLAIN)]
    OUT.write_text(_drawn(lines), encoding="utf-8")


async def _commit(producer: Producer) -> None:
    async with producer.transaction() as transaction:
        for partition in range(2):
            await transaction.send("orders", b"42", partition=partition)


async def _until_held(broker: Broker) -> None:
    while True:
        found = broker.explain_transaction("payments")
        if found is not None and len(found.markers) == 1:
            return
        await asyncio.sleep(0.01)


async def _run(command: str) -> list[str]:
    program, *arguments = shlex.split(command)
    running = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name(program), *arguments, "-b", f"127.0.0.1:{PORT}",
        stdout=asyncio.subprocess.PIPE, env={**os.environ, "COLUMNS": "110"},
    )  # fmt: skip
    out, _ = await running.communicate()
    return [f"$ {command}", *out.decode().rstrip().split("\n")]


def _drawn(lines: list[str]) -> str:
    height = TOP + LINE * len(lines) + 14
    text = "\n".join(
        f'<text x="{LEFT}" y="{TOP + LINE * (at + 1) - 6}" xml:space="preserve"'
        f' fill="{COLOURS.get(line[:1], "#e6edf3")}">{escape(line)}</text>'
        for at, line in enumerate(lines)
    )
    dots = "".join(
        f'<circle cx="{22 + 18 * at}" cy="20" r="6" fill="{colour}"/>'
        for at, colour in enumerate(("#ff5f56", "#ffbd2e", "#27c93f"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}">\n'
        f'<rect width="{WIDTH}" height="{height}" rx="9" fill="#0d1117"/>\n{dots}\n'
        f'<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{LETTER}">\n'
        f"{text}\n</g>\n</svg>\n"
    )


if __name__ == "__main__":
    asyncio.run(main())

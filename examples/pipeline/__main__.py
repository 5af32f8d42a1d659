"""Orders to totals, while the broker and Spark are killed; then the audit proves what was kept.

    pip install 'fencepost[spark]'     # and Java 17 or newer
    python examples/pipeline

It runs a broker of its own with a data directory, the shop (orders.py) and the pipeline
(totals.py). The broker is killed (kill -9) while the first query's sink has a transaction open, and
comes back; Spark is killed, JVM and all, while the second query's has, and comes back. When the
shop has closed and its last order is counted, two witnesses are heard who know nothing of each
other: the totals are compared with what the shop was told, and `fencepost audit` reads the broker's
files.

The exit code is 1 when an order is lost or counted twice, or an invariant of the audit fails. All
that there is stays in a folder, to be looked at: audit/report.html, the data directory, the logs.
"""

import argparse
import csv
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from fencepost_client import NewTopic, TopicPartition
from fencepost_client.blocking import Admin, Consumer

HERE = Path(__file__).parent
FENCEPOST = [sys.executable, "-m", "fencepost_broker"]  # the command `fencepost`
PARTITIONS = 2
TOPICS = {"orders": {}, "enriched": {}, "totals": {"cleanup.policy": "compact"}}
STARTS_MAX = 5
"""Of the pipeline: more of them, and it is not the broker's death that ends it."""
PATIENCE_SECONDS = 120
"""Totals that do not change for so long while orders are missing: they are lost."""

Minutes = dict[str, tuple[int, int]]
"""How many orders, and what they cost, by minute."""


class Program:
    """A process with all that it starts, which can be killed and started again."""

    def __init__(self, name: str, folder: Path, ready: str, *command: str) -> None:
        self.name, self.ready, self.command = name, ready, command
        self.log = folder / f"{name}.log"
        self.process: subprocess.Popen[str] | None = None
        self.starts = 0

    def start(self) -> str:
        """Start it, and wait until it says that it is ready; gives the line."""
        self.starts += 1
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603
                self.command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
            )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(self.ready):
                return line.strip()
        raise SystemExit(f"the {self.name} has ended before it was ready: see {self.log}")

    def has_ended(self) -> bool:
        """Whether it has ended by itself."""
        return self.process is not None and self.process.poll() is not None

    def kill(self) -> None:
        """SIGKILL for it and what it has started."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Ask it to end; gives its exit code."""
        return self._end(signal.SIGINT)

    def _end(self, number: int) -> int:
        process, self.process = self.process, None
        if process is None:
            return 0
        process.send_signal(number)
        if number != signal.SIGKILL:
            process.wait()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        assert process.stdout is not None
        process.stdout.close()
        return process.wait()


class Totals:
    """What the topic `totals` says, as far as it is committed."""

    def __init__(self, consumer: Consumer) -> None:
        self.consumer = consumer
        self.minutes: Minutes = {}
        consumer.assign([TopicPartition("totals", number) for number in range(PARTITIONS)])

    def read(self) -> bool:
        """Read on, for a tenth of a second; says whether anything came."""
        records = self.consumer.getmany(timeout_ms=100)
        for record in records:
            total = json.loads(record.value or b"")
            self.minutes[(record.key or b"").decode()] = total["orders"], total["cents"]
        return bool(records)

    def orders(self) -> int:
        """How many orders are counted."""
        self.read()
        return sum(orders for orders, _ in self.minutes.values())


def run(folder: Path, seed: int, rate: int, command: list[str]) -> bool:
    """All of it, on the broker that a command starts; says whether everything holds."""
    data, told = folder / "data", folder / "told.jsonl"
    with ExitStack() as stack:
        broker = Program("broker", folder, "ready at", *up(command, data, port=0))
        stack.callback(broker.kill)
        bootstrap = broker.start().split()[2]
        broker.command = up(command, data, port=int(bootstrap.rpartition(":")[2]))
        admin = stack.enter_context(Admin(bootstrap))
        admin.create_topics(
            [NewTopic(name, PARTITIONS, configs=configs) for name, configs in TOPICS.items()]
        )
        pipeline = Program(
            "pipeline", folder, "the queries run", sys.executable, str(HERE / "totals.py"),
            "--bootstrap", bootstrap, "--checkpoints", str(folder / "checkpoints"),
        )  # fmt: skip
        stack.callback(pipeline.kill)
        pipeline.start()
        shop = Program(
            "shop", folder, "the shop is open", sys.executable, str(HERE / "orders.py"),
            "--bootstrap", bootstrap, "--seed", str(seed), "--rate", str(rate), "--told", str(told),
        )  # fmt: skip
        stack.callback(shop.kill)
        shop.start()
        totals = Totals(stack.enter_context(reader(bootstrap)))

        wait_for(lambda: is_open(admin, "spark-enriched"), pipeline)
        broker.kill()
        broker.start()
        say("the broker was killed within a transaction of the first query, and came back")
        wait_for(lambda: totals.orders() > 0, pipeline)
        kill_within("spark-totals", admin, pipeline)
        say(f"Spark was killed within one of the second, with {totals.orders()} orders counted")
        pipeline.start()
        if shop.stop():
            raise SystemExit(f"the shop failed: see {shop.log}")
        sold = [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]
        say(f"Spark came back; the shop has closed with {len(sold)} orders")
        wait_until_counted(totals, len(sold), pipeline)
        pipeline.stop()
        is_right = compare(sold, totals.minutes, keys_of(bootstrap, "enriched"))
        broker.stop()
    audit = [*FENCEPOST, "audit", str(data), "--trace", str(told), "--out", str(folder / "audit")]
    say("the audit of the broker's files:")
    return subprocess.run(audit, check=False).returncode == 0 and is_right  # noqa: S603


def up(command: list[str], data: Path, port: int) -> tuple[str, ...]:
    """The broker's command, with its arguments."""
    return (*command, "--data-dir", str(data), "--port", str(port))


def is_open(admin: Admin, transactional_id: str) -> bool:
    """Whether a sink has written something that is neither committed nor aborted."""
    ongoing = admin.list_transactions(states=["Ongoing"])
    return any(each.transactional_id == transactional_id for each in ongoing)


def kill_within(transactional_id: str, admin: Admin, pipeline: Program) -> None:
    """Kill Spark while a sink has a transaction open, so that it is left so."""
    while True:
        wait_for(lambda: is_open(admin, transactional_id), pipeline)
        pipeline.kill()
        if is_open(admin, transactional_id):
            return
        pipeline.start()  # it was committed in the last moment


def wait_for(is_so: Callable[[], bool], pipeline: Program) -> None:
    """Wait for a moment, and see to the pipeline as whoever operates it would."""
    while not is_so():
        see_to(pipeline)
        time.sleep(0.02)


def wait_until_counted(totals: Totals, orders: int, pipeline: Program) -> None:
    """Wait until so many orders are counted, or until nothing moves any more."""
    changed_at = time.monotonic()
    while totals.orders() < orders:
        see_to(pipeline)
        if totals.read():
            changed_at = time.monotonic()
        if time.monotonic() - changed_at > PATIENCE_SECONDS:
            return


def see_to(pipeline: Program) -> None:
    """A query may fail when the broker dies: the pipeline ends with it, and is started again."""
    if pipeline.has_ended():
        if pipeline.starts == STARTS_MAX:
            raise SystemExit(f"the pipeline does not run: see {pipeline.log}")
        pipeline.kill()
        pipeline.start()
        say("the pipeline had ended by itself, and was started again")


@contextmanager
def reader(bootstrap: str) -> Iterator[Consumer]:
    """A consumer of committed records, from the first one on."""
    with Consumer(
        bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        yield consumer


def keys_of(bootstrap: str, topic: str) -> Counter[str]:
    """How often each key is in a topic, as far as it is committed."""
    keys: Counter[str] = Counter()
    partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
    with reader(bootstrap) as consumer:
        consumer.assign(partitions)
        ends = consumer.end_offsets(partitions)
        while any(consumer.position(each) < ends[each] for each in partitions):
            records = consumer.getmany(timeout_ms=100)
            keys.update((record.key or b"").decode() for record in records)
    return keys


def compare(sold: list[dict[str, Any]], totals: Minutes, enriched: Counter[str]) -> bool:
    """What the shop was told, against what the pipeline has made of it."""
    with (HERE / "products.csv").open(encoding="utf-8") as file:
        prices = {row["product"]: int(row["cents"]) for row in csv.DictReader(file)}
    expected: Minutes = {}
    for order in sold:
        minute = time.strftime("%Y-%m-%d %H:%M", time.gmtime(order["ordered_at"] / 1000))
        orders, cents = expected.get(minute, (0, 0))
        cost = order["quantity"] * prices[order["product"]]
        expected[minute] = orders + 1, cents + cost
    ids = {order["order"] for order in sold}
    lost = sorted(ids - enriched.keys())
    doubled = sorted(key for key, count in enriched.items() if count > 1 or key not in ids)
    wrong = [
        f"{minute}: {expected.get(minute)}, and the total is {totals.get(minute)}"
        for minute in sorted(expected.keys() | totals.keys())
        if expected.get(minute) != totals.get(minute)
    ]
    say(
        f"{len(sold)} orders in {len(expected)} minutes: {len(lost)} lost, {len(doubled)} there "
        f"twice or from nowhere, {len(wrong)} minutes with a wrong total"
    )
    for line in (*lost[:10], *doubled[:10], *wrong[:10]):
        print(f"    {line}")
    return not (lost or doubled or wrong)


def say(text: str) -> None:
    """Tell what has happened, and after how many seconds."""
    print(f"{time.monotonic() - STARTED:5.1f} s  {text}", flush=True)


STARTED = time.monotonic()

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python examples/pipeline", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--folder", type=Path, help="an empty one (a new one in /tmp)")
    parser.add_argument("--seed", type=int, default=1, help="which orders (1)")
    parser.add_argument("--rate", type=int, default=200, help="orders a second (200)")
    parser.add_argument(
        "--broker", help="another one's command, which takes --data-dir and --port (fencepost up)"
    )
    options = parser.parse_args()
    command = shlex.split(options.broker) if options.broker else [*FENCEPOST, "up"]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and so end all that was started
    folder = options.folder or Path(tempfile.mkdtemp(prefix="fencepost-pipeline-"))
    folder.mkdir(parents=True, exist_ok=True)
    holds = run(folder.resolve(), options.seed, options.rate, command)
    say(f"{'every order was counted once' if holds else 'something is wrong'}; see {folder}")
    sys.exit(0 if holds else 1)

"""Writes what this version writes into a folder of its own, for the tests of later versions.

    make keep-release

Each folder beside this file has the name of a version:

    killed.tar.gz    a data directory as it was when the broker was killed
    stopped.tar.gz   the same one after the broker was stopped
    snapshot.tar.gz  `Snapshot.save`
    session.fprec    `Broker.record`
    history.jsonl    `History`
    facts.json       what clients have to see of each
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tarfile
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from fencepost_broker import Broker, Snapshot, StateClock
from fencepost_client import Admin, Consumer, History, NewTopic, Producer, TopicPartition
from fencepost_protocol import __version__

from tests.release.kept.facts import Facts, read_facts
from tests.release.kept.scene import LONG_MS, SETTINGS, scene

HERE: Final = Path(__file__).parent
STOPS: Final = ("killed", "stopped")


@asynccontextmanager
async def opened(archive: Path, at_ms: int, **options: Any) -> AsyncIterator[Broker]:
    """Run a broker on what was kept: a data directory or a snapshot."""
    options = {"settings": SETTINGS, **options}
    clock = StateClock(manual=True, at_ms=at_ms)
    if archive.name.startswith("snapshot"):
        async with Broker(clock=clock, **options) as broker:
            await broker.restore(Snapshot.load(archive))
            yield broker
        return
    with tempfile.TemporaryDirectory(prefix="fencepost-kept-") as folder:
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        async with Broker(data_dir=folder, clock=clock, **options) as broker:
            yield broker


async def keep(out: Path) -> None:
    """Write everything into an empty folder."""
    with tempfile.TemporaryDirectory(prefix="fencepost-scene-") as name:
        folder = Path(name)
        async with scene(folder / "data") as broker:
            shutil.copytree(folder / "data", folder / "killed")
            at_ms = broker.clock.now_ms()
            await broker.stop()
        shutil.move(folder / "data", folder / "stopped")
        for stop in STOPS:
            (folder / stop / ".lock").unlink(missing_ok=True)
            pack(folder / stop, out / f"{stop}.tar.gz")
    async with scene(None) as broker:
        broker.snapshot().save(out / "snapshot.tar.gz")
    await record_session(out)
    facts: dict[str, Facts] = {}
    for kind in (*STOPS, "snapshot"):
        async with opened(out / f"{kind}.tar.gz", at_ms) as broker:
            facts[kind] = await read_facts(broker.bootstrap)
    if facts["killed"] != facts["stopped"]:
        raise SystemExit("a broker that was killed and one that was stopped know other things")
    told = json.dumps({"state time": at_ms, **facts}, indent=1, ensure_ascii=False)
    (out / "facts.json").write_text(told + "\n", encoding="utf-8")


def pack(folder: Path, archive: Path) -> None:
    """Pack a folder's content."""
    with tarfile.open(archive, "w:gz", compresslevel=9) as packed:
        for path in sorted(folder.iterdir()):
            packed.add(path, path.name, filter=nobody)


def nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out who packed it, and when."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


async def record_session(out: Path) -> None:
    """A recording, and a history of the same clients."""
    async with Broker() as broker:
        recorder = broker.record(out / "session.fprec")
        with History(out / "history.jsonl") as history:
            await session(broker, history)
        recorder.close()


async def session(broker: Broker, history: Any) -> None:
    """A transaction that is committed, one that is aborted, and who reads them."""
    async with Admin(broker.bootstrap) as admin:
        await admin.create_topics([NewTopic("orders", 1)])
    async with Producer(broker.bootstrap, transactional_id="payments", history=history) as producer:
        for commits in (True, False):
            producer.begin()
            await producer.send_and_wait("orders", b"committed" if commits else b"aborted")
            await (producer.commit() if commits else producer.abort())
    async with Consumer(
        broker.bootstrap, isolation_level="read_committed", history=history
    ) as consumer:
        place = TopicPartition("orders", 0)
        consumer.assign([place])
        consumer.seek_to_beginning(place)
        assert [each.value for each in await consumer.getmany(timeout_ms=LONG_MS)] == [b"committed"]


if __name__ == "__main__":
    folder = HERE / __version__
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    asyncio.run(keep(folder))

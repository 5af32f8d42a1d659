"""One form of the matrix of Kafka's own transactions system test, on our brokers.

Numbers stand in a topic; copiers copy them in transactions to another, while each broker, or each
copier, is killed or stopped and started again, one at a time; a reader of committed records reads
along. At the end, it and a reader that comes afterwards have to have found each number once, in the
order of its partition.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from fencepost_client import Producer
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from tests.kill.matrix.forms import (
    BROKERS,
    CLIENT_ROUNDS,
    PROGRESS,
    Form,
    Partitions,
    Result,
    Size,
    judge,
)
from tests.kill.matrix.programs import SINK, SOURCE, Copier, Reader, Stage, commands
from tests.support.cluster_processes import ClusterProcesses
from tests.support.up import BUG

REPLICAS, IN_SYNC_MIN = 3, 2


class Run:
    """All of it."""

    def __init__(self, form: Form, client: str, size: Size, folder: Path) -> None:
        self.form, self.size, self.folder = form, size, folder
        self.result = Result(form, client, size.messages)
        self.source: Partitions = size.source(form)
        self.copies, self.reads = commands(client)
        self.stage = Stage()
        settings = {
            "min.insync.replicas": IN_SYNC_MIN,
            "default.replication.factor": REPLICAS,
            "group.min.session.timeout.ms": min(size.member_session_ms, 6_000),
        }
        self.cluster = ClusterProcesses(
            folder,
            brokers=BROKERS,
            session_timeout_ms=size.broker_session_ms,
            settings=settings,
        )

    def run(self) -> Result:
        """Fill, copy while somebody is bounced, read, compare."""
        began = time.monotonic()
        with self.cluster, self._closing():
            self._prepare()
            self.copiers = [self._copier(number) for number in range(self.form.copiers)]
            along = self._reader("reader-along")
            self.stage.until(lambda: bool(along.found), "nothing is copied")
            if self.form.target == "brokers":
                self._bounce_brokers()
            else:
                self._bounce_copiers()
            self._finish()
            self._read_to_end(along)
            self._read_to_end(self._reader("reader-afterwards"))
            said = self.cluster.said()
            assert "Traceback" not in said, said
            assert BUG not in said, said
        self.result.begun = sum(each.begun for each in self.copiers)
        self.result.committed = self._committed()
        self.result.seconds = time.monotonic() - began
        return self.result

    @contextmanager
    def _closing(self) -> Iterator[None]:
        try:
            yield
        finally:
            for each in self.stage.programs:
                each.close()

    # -- before --------------------------------------------------------------------------------

    def _prepare(self) -> None:
        with self.cluster.connect(1) as wire:
            wire.create(SOURCE, self.form.copiers)
            wire.create(SINK, self.form.sinks)
            asked = [MetadataRequestTopic(name=name) for name in (SOURCE, SINK)]
            for topic in wire.ask(MetadataRequest(asked), 12).topics:
                for partition in topic.partitions:
                    assert len(partition.replica_nodes) == REPLICAS
        asyncio.run(self._fill())
        self.cluster.until_settled()

    async def _fill(self) -> None:
        async with Producer(self.cluster.bootstrap, enable_idempotence=True) as producer:
            for partition, values in self.source.items():
                await producer.send_many(
                    SOURCE, [b"%d" % value for value in values], partition=partition
                )

    def _copier(self, number: int) -> Copier:
        copier = Copier(
            self.stage, self.copies, self.cluster.bootstrap, number, self.form, self.size,
            self.folder,
        )  # fmt: skip
        copier.start()
        return copier

    def _reader(self, name: str) -> Reader:
        reader = Reader(
            self.stage, name, self.reads, self.cluster.bootstrap, self.form, self.folder
        )
        reader.start()
        return reader

    # -- bounces -------------------------------------------------------------------------------

    def _bounce_brokers(self) -> None:
        """One after the other, each when all replicas are in sync again, and the work goes on."""
        for broker_id in self.cluster.broker_ids:
            self._count_bounce()
            if self.form.is_hard:
                self.cluster.kill(broker_id)
                self.cluster.until_fenced(broker_id)
            else:
                self.cluster.stop(broker_id)
            self.cluster.start(broker_id)
            self.cluster.until_settled()
            self.stage.until(
                partial(self._goes_on, self._committed()),
                f"nothing follows a bounce of {broker_id}",
            )

    def _goes_on(self, committed: int) -> bool:
        return self._committed() > committed or self._is_copied()

    def _committed(self) -> int:
        return sum(each.committed for each in self.copiers)

    def _bounce_copiers(self) -> None:
        """Each of them three times, each time when it has made some progress."""
        starts = [self._copied(number) for number in range(self.form.copiers)]
        for _ in range(CLIENT_ROUNDS):
            for number, copier in enumerate(self.copiers):
                left = len(self.source[number]) - starts[number]
                goal = starts[number] + PROGRESS * left
                self.stage.until(
                    partial(self._is_ready, number, goal), f"{copier} does not come to {goal}"
                )
                self._count_bounce()
                if self.form.is_hard:
                    copier.kill()
                else:
                    code = copier.stop()
                    assert code in (0, 143), f"{copier} ended with {code}"
                starts[number] = self._copied(number)
                copier.start()

    def _is_ready(self, number: int, goal: float) -> bool:
        return self.copiers[number].is_heard and self._copied(number) >= goal

    def _count_bounce(self) -> None:
        self.result.bounces += 1
        self.result.in_time += not self._is_copied()

    # -- afterwards ----------------------------------------------------------------------------

    def _copied(self, partition: int) -> int:
        """How far the group has come in a partition, whoever reads it."""
        return max(each.positions.get(partition, 0) for each in self.copiers)

    def _is_copied(self) -> bool:
        return all(
            self._copied(partition) == len(values) for partition, values in self.source.items()
        )

    def _finish(self) -> None:
        for each in self.copiers:
            each.tell("hurry")
        self.stage.until(self._is_copied, "not all is copied")
        for each in self.copiers:
            code = each.leave("leave")
            assert code == 0, f"{each} ended with {code}"

    def _read_to_end(self, reader: Reader) -> None:
        code = reader.leave("finish")
        assert code == 0, f"{reader} ended with {code}"
        self.result.verdicts[reader.name] = judge(self.source, reader.found)


def run_form(form: Form, client: str, size: Size, folder: Path) -> Result:
    """Run it once; what is not exact is for who asked to say."""
    try:
        return Run(form, client, size, folder).run()
    except Exception as error:
        error.add_note(f"in {form} {client}")
        raise

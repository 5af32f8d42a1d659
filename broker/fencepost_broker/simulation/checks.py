"""Checks of what a program has done, by its clients' history and by the logs of its clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from typing import Final

from fencepost_client.clients.history import History, name_of_value
from fencepost_client.histories import Kind, Operation, Report, Transform, check, read_history
from fencepost_client.histories.exactly_once import ANY

from fencepost_broker.simulation.cluster import SimulatedCluster
from fencepost_broker.simulation.logs import committed_offsets, committed_records

_LOG: Final = "the log"
"""The process that has read everything which is committed."""


class Checks:
    """Judges what a program has done so far; what is wrong is an ``AssertionError``.

    Logs are read as they are: call ``quiet`` before.
    """

    def __init__(self, clusters: Sequence[SimulatedCluster], tell: Callable[[str], object]) -> None:
        self._clusters = clusters
        self._tell = tell
        self._file = BytesIO()
        self.history = History(self._file)

    def exactly_once(
        self, *, source: str, target: str, names: str = ANY, allow: Iterable[Kind | str] = ()
    ) -> Report:
        """Check that each record of ``source`` was processed, and has one record in ``target``.

        ``names`` is a regular expression, whose first group is the source value that a target value
        names; by default, both are the same. Each source value is sent once.
        """
        report = self._judge(Transform(source, target, names), allow)
        if report.unprocessed:
            raise AssertionError(f"{report.unprocessed} records of {source} were never processed")
        return report

    def clients(self, *, allow: Iterable[Kind | str] = ()) -> Report:
        """Check that nothing was lost, doubled or torn, and that readers saw nothing too early.

        What clients sent and read is known of those that were given ``sim.history``.
        """
        return self._judge(None, allow)

    def _judge(self, transform: Transform | None, allow: Iterable[Kind | str]) -> Report:
        allowed = frozenset(map(Kind, allow))
        self._file.seek(0)
        operations = [*read_history(self._file), *self._from_logs()]
        report = check(operations, transform=transform, allow=allowed)
        if not report.holds:
            raise AssertionError(str(report))
        # Logs were read to their ends: a record that was not read does not exist.
        unseen = report.findings(Kind.UNSEEN_WRITE)
        if unseen and Kind.UNSEEN_WRITE not in allowed:
            raise AssertionError(f"not in its log at the end: {unseen[0].text}")
        self._tell(f"checked: {report.operations} operations are right")
        return report

    def _from_logs(self) -> Iterator[Operation]:
        yield Operation(op="open", process=_LOG, isolation="read_committed")
        for cluster in self._clusters:
            for topic in cluster.topic_names:
                for number, partition in enumerate(cluster.leaders(topic)):
                    records = committed_records(partition.log)
                    yield Operation(
                        op="poll",
                        process=_LOG,
                        topic=topic,
                        partition=number,
                        offsets=[each.offset for each in records],
                        values=[_named(each.value) for each in records],
                    )
            for (group, topic, number), offset in sorted(committed_offsets(cluster).items()):
                yield Operation(
                    op="commit_offsets",
                    process=_LOG,
                    group=group,
                    topic=topic,
                    partition=number,
                    offset=offset,
                )


def _named(value: bytes | memoryview | None) -> str:
    return name_of_value(None, None if value is None else bytes(value))

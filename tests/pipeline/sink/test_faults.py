"""What happens to a batch while it is written: other drivers, timeouts, brokers that die."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from fencepost_client.blocking import Admin
from fencepost_pipeline.sink import driver
from fencepost_pipeline.sink.commit_protocol import Begun, read_marker
from fencepost_pipeline.sink.errors import OwnershipError, TaskError
from fencepost_pipeline.sink.marker import Batch, marker_after
from fencepost_pipeline.sink.settings import SinkSettings
from fencepost_pipeline.sink.task_reports import TaskReport, settle
from fencepost_pipeline.sink.task_writer import Attempt, write

from tests.kill.doomed_up import DoomedUp
from tests.pipeline.sink.brokers import Running
from tests.pipeline.sink.lives import QUERY, Spark, rows
from tests.support.apache_kafka import free_ports

BATCH = Batch(0, QUERY)


def task(
    settings: SinkSettings,
    begun: Begun,
    number: int,
    values: list[str],
    meanwhile: Callable[[], None] | None = None,
) -> TaskReport:
    """A task with a partition of its own; half its rows are sent before something happens."""

    def given() -> Iterator[pa.RecordBatch]:
        half = len(values) // 2
        yield rows(values[:half], number)
        if meanwhile is not None:
            meanwhile()
        yield rows(values[half:], number)

    return write(given(), begun, settings, Attempt(number, batch=BATCH))


def commit(settings: SinkSettings, *reports: TaskReport) -> None:
    work = settle(reports)
    assert work is not None
    identity = work.transaction.producer_id, work.transaction.producer_epoch
    driver.commit(settings, work.transaction, marker_after(BATCH, *identity))


def again(settings: SinkSettings, values: list[str]) -> None:
    """The query is started anew, and writes the batch as it should be."""
    Spark(settings, [[rows(values, 0)]]).live()


def once(values: list[str]) -> Counter[bytes | None]:
    return Counter(value.encode() for value in values)


VALUES = [f"{number:04}" for number in range(10)]


def test_another_driver_begins_in_mid_batch(cluster: Running, topic: str) -> None:
    cluster.create(topic)
    settings = cluster.settings(topic, topic, batch_bytes=1)
    begun = driver.begin(settings)
    report = task(settings, begun, 0, VALUES, lambda: again(settings, VALUES))
    with pytest.raises(TaskError, match="another driver has begun"):
        settle([report])
    assert driver.abort(settings, begun.transaction) is not None
    assert cluster.values(topic) == once(VALUES)


def test_another_driver_begins_before_the_commit(cluster: Running, topic: str) -> None:
    cluster.create(topic)
    settings = cluster.settings(topic, topic)
    begun = driver.begin(settings)
    report = task(settings, begun, 0, VALUES)
    again(settings, VALUES)
    with pytest.raises(Exception, match=r"FENCED|EPOCH|INVALID_TXN|timed"):
        commit(settings, report)
    assert cluster.values(topic) == once(VALUES)


def test_the_transaction_times_out_in_mid_batch(cluster: Running, topic: str) -> None:
    cluster.create(topic)
    settings = cluster.settings(topic, topic, batch_bytes=1, transaction_timeout_ms=100)
    begun = driver.begin(settings)

    def until_it_is_over() -> None:
        with Admin(cluster.bootstrap) as admin:
            while True:
                name = settings.transactional_id
                state = admin.describe_transactions([name])[name].state
                if state == "CompleteAbort":
                    return

    report = task(settings, begun, 0, VALUES, until_it_is_over)
    with pytest.raises(TaskError, match=r"kafka\.transaction\.timeout\.ms=100"):
        settle([report])
    driver.abort(settings, begun.transaction)
    again(cluster.settings(topic, topic), VALUES)
    assert cluster.values(topic) == once(VALUES)


def test_an_answer_to_the_commit_that_was_lost(cluster: Running, topic: str) -> None:
    """Whoever commits again, or aborts, finds it committed."""
    cluster.create(topic)
    settings = cluster.settings(topic, topic)
    begun = driver.begin(settings)
    report = task(settings, begun, 0, VALUES)
    commit(settings, report)
    commit(settings, report)
    driver.abort(settings, begun.transaction)
    assert cluster.values(topic) == once(VALUES)
    assert settings.place is not None
    place = settings.place
    marker = driver.run(settings, lambda client: read_marker(place, client.backoff()))
    assert marker is not None
    assert (marker.next_batch, marker.query_id) == (1, QUERY)


def test_two_tasks_at_once_are_refused_although_neither_notices(
    cluster: Running, topic: str
) -> None:
    """The broker drops the second one's batch in silence: same sequence, same count."""
    cluster.create(topic)
    settings = cluster.settings(topic, topic)
    begun = driver.begin(settings)
    reports: list[TaskReport] = []

    def given() -> Iterator[pa.RecordBatch]:
        yield rows(VALUES[:5], 0)
        reports.append(task(settings, begun, 0, VALUES))
        yield rows([value[::-1] for value in VALUES[5:]], 0)

    reports.append(write(given(), begun, settings, Attempt(1, batch=BATCH)))
    assert [report.error for report in reports] == [None, None]
    with pytest.raises(OwnershipError):
        settle(reports)
    driver.abort(settings, begun.transaction)
    again(settings, VALUES)
    assert cluster.values(topic) == once(VALUES)


def test_two_tasks_of_one_partition_are_refused(cluster: Running, topic: str) -> None:
    cluster.create(topic)
    settings = cluster.settings(topic, topic)
    begun = driver.begin(settings)
    first = task(settings, begun, 0, VALUES)
    second = task(settings, begun, 0, VALUES)
    second.task = 1
    assert "has rows of this transaction already" in str(second.error)
    with pytest.raises(OwnershipError):
        settle([first, second])
    driver.abort(settings, begun.transaction)
    again(settings, VALUES)
    assert cluster.values(topic) == once(VALUES)


def test_a_second_attempt_fails_the_batch(cluster: Running, topic: str) -> None:
    cluster.create(topic)
    settings = cluster.settings(topic, topic)
    begun = driver.begin(settings)
    task(settings, begun, 0, VALUES)
    report = write(iter([rows(VALUES, 0)]), begun, settings, Attempt(0, number=1, batch=BATCH))
    with pytest.raises(TaskError, match="attempt 2"):
        settle([report])
    driver.abort(settings, begun.transaction)
    again(settings, VALUES)
    assert cluster.values(topic) == once(VALUES)


def test_a_row_that_is_too_large_is_told(cluster: Running, topic: str) -> None:
    cluster.create(topic, max_message_bytes="1000")
    settings = cluster.settings(topic, topic)
    begun = driver.begin(settings)
    report = task(settings, begun, 0, ["a", "b" * 5000])
    with pytest.raises(TaskError, match="MESSAGE_TOO_LARGE"):
        settle([report])
    driver.abort(settings, begun.transaction)
    again(settings, ["c" * 400, "d" * 400, "e" * 400])
    assert len(cluster.values(topic)) == 3


def test_the_topic_is_deleted_in_mid_batch(cluster: Running, topic: str) -> None:
    """The client's next question makes it anew: the first half of the batch is gone."""
    cluster.create(topic)
    settings = cluster.settings(topic, topic, batch_bytes=1)
    begun = driver.begin(settings)

    def delete() -> None:
        with Admin(cluster.bootstrap) as admin:
            admin.delete_topics([topic])

    report = task(settings, begun, 0, VALUES, delete)
    with pytest.raises(TaskError, match=f"{topic} was deleted and made anew"):
        settle([report])
    driver.abort(settings, begun.transaction)
    again(settings, VALUES)
    assert cluster.values(topic) == once(VALUES)


def test_a_topic_that_is_not_there_is_told(cluster: Running, topic: str) -> None:
    settings = cluster.settings("there.is.no such topic", topic)
    report = task(settings, driver.begin(settings), 0, VALUES)
    with pytest.raises(TaskError, match="no such topic"):
        settle([report])


def test_an_empty_batch_moves_the_marker(cluster: Running, topic: str) -> None:
    cluster.create(topic)
    settings = cluster.settings(topic, topic)
    spark = Spark(settings, [[], [rows([])], [rows(VALUES, 0)]])
    spark.batches = spark.batches[1:]
    spark.live()
    assert spark.skipped == []
    assert cluster.values(topic) == once(VALUES)


def test_errors_of_spark_are_its_own(cluster: Running, topic: str) -> None:
    cluster.create(topic)
    settings = cluster.settings(topic, topic)

    def failing() -> Iterator[pa.RecordBatch]:
        yield rows(VALUES, 0)
        raise ZeroDivisionError("upstream")

    with pytest.raises(ZeroDivisionError, match="upstream"):
        write(failing(), driver.begin(settings), settings, Attempt(0, batch=BATCH))


@pytest.mark.parametrize("when", ["writing", "committing"])
def test_the_broker_dies_and_comes_back(when: str, tmp_path: Path) -> None:
    """Its log is on disk: nothing has to be started anew, it only takes longer."""
    (port,) = free_ports(1)
    with DoomedUp(port, "--data-dir", str(tmp_path)) as broker:
        cluster, topic = Running(broker), "t"
        cluster.create(topic)
        settings = cluster.settings(topic, topic, batch_bytes=1)
        begun = driver.begin(settings)

        def restart() -> None:
            broker.kill()
            broker.start()

        report = task(settings, begun, 0, VALUES, restart if when == "writing" else None)
        if when == "committing":
            restart()
        commit(settings, report)
        assert cluster.values(topic) == once(VALUES)

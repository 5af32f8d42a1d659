"""A driver that dies at every step of every batch: nothing is lost, and nothing is there twice."""

from __future__ import annotations

from collections import Counter

import pytest
from fencepost_pipeline.sink import driver
from fencepost_pipeline.sink.errors import MarkerError, TaskError

from tests.pipeline.sink.brokers import Running
from tests.pipeline.sink.lives import Death, DiedError, Spark, rows

BATCHES = 3
ROWS = 5


def query(cluster: Running, topic: str, sink_id: str) -> Spark:
    """Two tasks, a partition each."""
    batches = [
        [
            rows([f"{batch}/{task}/{row}" for row in range(ROWS)], partition=task)
            for task in range(2)
        ]
        for batch in range(BATCHES)
    ]
    return Spark(cluster.settings(topic, sink_id), batches)


def expected() -> Counter[bytes | None]:
    """Every row once."""
    return Counter(
        f"{batch}/{task}/{row}".encode()
        for batch in range(BATCHES)
        for task in range(2)
        for row in range(ROWS)
    )


def test_without_a_crash_every_row_is_there_once(cluster: Running, topic: str) -> None:
    cluster.create(topic)
    query(cluster, topic, topic).live()
    assert cluster.values(topic) == expected()
    for partition in range(2):
        order = [r.value for r in cluster.records(topic) if r.partition == partition]
        assert order == sorted(order, key=lambda value: value or b"")


def test_a_death_at_every_step(cluster: Running, topic: str) -> None:
    cluster.create(topic)
    death = Death()
    spark = query(cluster, topic, topic)
    spark.live(death)
    steps = death.steps // BATCHES
    assert steps >= 10
    skipped = 0
    # A whole batch lies before the death, so that there is something to do again.
    for at in range(steps + 1, 2 * steps + 1):
        name = f"{topic}-{at}"
        cluster.create(name)
        spark = query(cluster, name, name)
        with pytest.raises(DiedError):
            spark.live(Death(at))
        spark.live()
        assert cluster.values(name) == expected(), f"died at step {at}"
        skipped += len(spark.skipped)
    # Behind EndTxn, and before Spark has noted it: these are committed already. How many steps that
    # is depends on how often Apache Kafka has to be asked again.
    assert skipped


def test_a_second_driver_fences_the_first(cluster: Running, topic: str) -> None:
    cluster.create(topic)
    first, second = query(cluster, topic, topic), query(cluster, topic, topic)
    begun = first.begin(Death())
    second.live()
    # The first one's tasks write now, and are refused.
    first.begin = lambda death: begun  # type: ignore[method-assign]
    with pytest.raises(TaskError, match="another driver has begun"):
        first.run_batch(Death())
    assert driver.abort(first.settings, begun.transaction) is not None
    assert cluster.values(topic) == expected()


def test_a_lost_checkpoint_is_refused(cluster: Running, topic: str) -> None:
    cluster.create(topic)
    query(cluster, topic, topic).live()
    other = query(cluster, topic, topic)
    other.query_id = "query-2"
    with pytest.raises(MarkerError, match="lost"):
        other.live()
    assert cluster.values(topic) == expected()

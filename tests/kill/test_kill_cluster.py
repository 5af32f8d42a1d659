"""A cluster's processes die under load, once; ``make kill-cluster`` runs as many as you like."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from fencepost_client import TopicPartition
from fencepost_client.blocking import Consumer, Producer

from tests.kill.cluster_rounds import FAILURES_PER_ROUND, KINDS, deck, run_round
from tests.support.cluster_processes import ClusterProcesses


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_whichever_process_dies() -> None:
    kinds = ["pause leader", "kill transactions"]
    result = run_round("ci", kinds)
    print(result)
    assert result.failures == kinds
    assert result.zombie_writes.total() > 0
    assert min(result.acknowledged, result.committed, result.transformed, result.batches) > 0


def test_every_kind_of_failure_comes_as_often_as_any_other() -> None:
    rounds = deck("seed", len(KINDS))
    assert {len(each) for each in rounds} == {FAILURES_PER_ROUND}
    assert set(Counter(kind for each in rounds for kind in each)) == set(KINDS)
    assert set(Counter(kind for each in rounds for kind in each).values()) == {FAILURES_PER_ROUND}


@pytest.mark.slow
def test_a_prepared_transaction_is_kept_and_completed_by_other_coordinators(tmp_path: Path) -> None:
    """Its coordinator is killed when it is prepared, and the next one when it is kept."""
    name, partitions = "orders-1", [TopicPartition("t", 0), TopicPartition("t", 1)]
    settings = {
        "unstable.api.versions.enable": "true",
        "transaction.two.phase.commit.enable": "true",
    }

    def participant(*, keeps: bool = False) -> Producer:
        return Producer(
            cluster.bootstrap,
            transactional_id=name,
            transaction_two_phase_commit_enable=True,
            keep_prepared_txn=keeps,
        )

    def kill_coordinator() -> int:
        killed = cluster.transaction_coordinator(name)
        cluster.kill(killed)
        cluster.until_fenced(killed)
        assert cluster.transaction_coordinator(name) != killed
        return killed

    def are_read() -> bool:
        found.extend(each.value for each in consumer.getmany(timeout_ms=1000))
        return len(found) >= len(partitions)

    found: list[bytes | None] = []
    with ClusterProcesses(tmp_path, "--topic", "t:2", settings=settings) as cluster:
        with participant() as producer:
            producer.begin()
            for topic, number in partitions:
                producer.send(topic, b"x", partition=number)
            state = producer.prepare()
            killed = kill_coordinator()
        with participant(keeps=True) as producer:
            assert producer.is_prepared
            cluster.start(killed)
            cluster.until_settled()
            kill_coordinator()
            producer.complete(str(state))
        with Consumer(
            cluster.bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
        ) as consumer:
            consumer.assign(partitions)
            cluster.until(are_read, "the transaction is not committed")
            ends = consumer.end_offsets(partitions)
    assert found == [b"x", b"x"]
    assert set(ends.values()) == {2}, "a record and its marker"

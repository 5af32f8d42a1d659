"""Who waits in a partition: what one of them runs into is that one's matter alone."""

from __future__ import annotations

from fencepost_broker.replication.partition import Partition, PartitionTable, Topic

from tests.machine.storage.harness import fill, open_log


class Waiter:
    """Goes when it is let go; some run into a bug of ours then."""

    def __init__(self, partition: Partition, error: Exception | None = None) -> None:
        self.moves = 0
        self.is_over = False
        self.heard: list[Exception] = []
        self._error = error
        self._partition = partition
        partition.waiters.append(self)

    def partition_moved(self, partition: Partition) -> None:
        self.moves += 1
        if self._error is not None:
            raise self._error

    def time_is_over(self) -> None:
        self.is_over = True
        if self._error is not None:
            raise self._error
        self._partition.waiters.remove(self)

    def failed(self, error: Exception) -> None:
        self.heard.append(error)


def three() -> tuple[Partition, list[Waiter]]:
    partition = Partition("t", 0, open_log())
    first = Waiter(partition)
    return partition, [first, Waiter(partition, ValueError("a bug")), Waiter(partition)]


def test_a_waiter_that_fails_keeps_none_of_the_others_waiting() -> None:
    partition, waiters = three()
    partition.moved()
    assert not any(each.moves for each in waiters), "not within what moved it"
    partition.moved()
    partition.ready.drain()
    assert [each.moves for each in waiters] == [1, 1, 1]
    assert [[str(error) for error in each.heard] for each in waiters] == [[], ["a bug"], []]


def test_all_are_let_go_whatever_one_of_them_runs_into() -> None:
    partition, waiters = three()
    partition.release_waiting()
    assert all(each.is_over for each in waiters)
    assert [len(each.heard) for each in waiters] == [0, 1, 0]
    assert not partition.waiters


def test_records_count_while_it_leads_whatever_happens_to_its_log() -> None:
    log = open_log()
    fill(log, 3)
    partition = Partition("t", 0, log)
    assert partition.records_in == 0, "they were there before"
    fill(log, 2)
    partition.follow()
    fill(log, 7)
    assert partition.records_in == 2
    partition.follow()
    partition.lead(None)
    partition.lead(None)
    fill(log, 1)
    assert partition.records_in == 3
    partition.use_log(open_log())
    assert partition.records_in == 3
    fill(partition.log, 4)
    assert partition.records_in == 7


def test_what_a_deleted_topic_has_counted_stays_in_the_sum() -> None:
    table = PartitionTable()
    for name, count in (("kept", 2), ("deleted", 5)):
        topic = Topic(name, name.encode())
        topic.partitions.append(Partition(name, 0, open_log()))
        topic.partitions[0].bytes_in = count
        table.add(topic)
    assert table.sum_of("bytes_in") == 7
    table.remove(table.by_name["deleted"])
    assert table.sum_of("bytes_in") == 7
    assert table.by_name["kept"].sum_of("bytes_in") == 2

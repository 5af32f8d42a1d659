"""Offsets of consumer groups: which epoch may commit and read what."""

from __future__ import annotations

import pytest

from tests.machine.coordinator.group.consumers import Consumers
from tests.machine.coordinator.group.offsets import commit, commit_in_transaction, fetch
from tests.machine.coordinator.group.partition import Partition

ALL = {"t": [0, 1, 2, 3]}


@pytest.fixture
def partition() -> Partition:
    return Partition()


@pytest.fixture
def group(partition: Partition) -> Consumers:
    return Consumers(partition)


class TestOffsets:
    def test_epochs_of_commits(self, group: Consumers, partition: Partition) -> None:
        group.join("a", "t")
        partition.advance(1000)
        group.join("b", "t")
        kept = group.given(group.beat("a", 2, ALL))
        assert kept is not None
        first = kept["t"][0]
        lost = min(set(range(4)) - set(kept["t"]))
        assert commit(partition, "g", {("t", lost): 1}, 2, "a") == ["NONE"], "not let go yet"
        group.beat("a", 2, kept)
        # KIP-1251: it is at 3, and has had this one since 2.
        assert commit(partition, "g", {("t", first): 1}, 2, "a") == ["NONE"]
        assert commit(partition, "g", {("t", first): 1}, 1, "a") == ["STALE_MEMBER_EPOCH"]
        assert commit(partition, "g", {("t", lost): 1}, 2, "a") == ["STALE_MEMBER_EPOCH"]
        both = commit(partition, "g", {("t", first): 1, ("t", lost): 1}, 2, "a")
        assert both == ["STALE_MEMBER_EPOCH"] * 2
        assert commit(partition, "g", {("t", lost): 1}, 3, "a") == ["NONE"]
        assert commit(partition, "g", {("t", first): 1}, 4, "a") == ["STALE_MEMBER_EPOCH"]

    @pytest.mark.parametrize(
        ("epoch", "member", "version", "expected"),
        [
            (2, "m", 9, "NONE"),
            (2, "m", 8, "UNSUPPORTED_VERSION"),
            (2, "x", 9, "UNKNOWN_MEMBER_ID"),
            (-1, "", 9, "UNKNOWN_MEMBER_ID"),
        ],
    )
    def test_who_may_commit(
        self,
        group: Consumers,
        partition: Partition,
        epoch: int,
        member: str,
        version: int,
        expected: str,
    ) -> None:
        group.join("m", "t")
        codes = commit(partition, "g", {("t", 0): 1}, epoch, member, version=version)
        assert codes == [expected]

    @pytest.mark.parametrize(
        ("epoch", "member", "expected"),
        [
            (2, "m", "NONE"),
            (1, "m", "ILLEGAL_GENERATION"),
            (3, "m", "ILLEGAL_GENERATION"),
            (2, "x", "UNKNOWN_MEMBER_ID"),
            (-1, "", "NONE"),
            (-2, "", "UNKNOWN_MEMBER_ID"),
        ],
    )
    def test_who_may_in_a_transaction(
        self, group: Consumers, partition: Partition, epoch: int, member: str, expected: str
    ) -> None:
        group.join("m", "t")
        codes = commit_in_transaction(partition, "g", {("t", 0): 1}, epoch, member)
        assert codes == [expected]

    def test_an_empty_group_takes_commits_of_nobody(
        self, group: Consumers, partition: Partition
    ) -> None:
        group.join("m", "t")
        group.leave("m")
        assert commit(partition, "g", {("t", 0): 1}) == ["NONE"]
        assert fetch(partition, "g", ("t", 0))[0].committed_offset == 1

    def test_offsets_of_read_topics_do_not_expire(self, partition: Partition) -> None:
        partition.configs["g", "consumer.session.timeout.ms"] = 30 * 24 * 3600 * 1000
        group = Consumers(partition)
        group.join("m", "t")
        partition.configs["g", "consumer.assignment.interval.ms"] = 0
        commit(partition, "g", {("t", 0): 1, ("u", 0): 1}, 2, "m")
        partition.advance(8 * 24 * 3600 * 1000)
        offsets = [each.committed_offset for each in fetch(partition, "g", ("t", 0), ("u", 0))]
        assert offsets == [1, -1]

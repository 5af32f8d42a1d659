"""Whether all replicas of a cluster hold the same, byte by byte, as readers of each get it."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.records.batch import split_batches

from tests.kill import read_back
from tests.support.cluster_processes import ClusterProcesses, Partition
from tests.support.up import FETCH_BYTES, FETCH_VERSION, Wire

READ_UNCOMMITTED, READ_COMMITTED = 0, 1
NOT_YET: Final = {ErrorCode.OFFSET_NOT_AVAILABLE, ErrorCode.OFFSET_OUT_OF_RANGE}
"""A follower hears with its next Fetch how far readers may come."""

Batches = dict[int, bytes]
"""By base offset, as they are in the log."""


def ends_of_logs(cluster: ClusterProcesses) -> dict[Partition, int]:
    """Where each partition ends, once nothing in it waits for the end of a transaction."""
    ends = {}
    view = cluster.view(cluster.running()[0])
    assert view is not None
    for (topic, number), leader in view.leaders.items():
        with cluster.connect(leader) as wire:

            def end(wire: Wire = wire, topic: str = topic, number: int = number) -> int | None:
                told = [
                    read_back.ends(wire, topic, number + 1, level)[number]
                    for level in (READ_UNCOMMITTED, READ_COMMITTED)
                ]
                return told[0] + 1 if told[0] == told[1] >= 0 else None

            ends[topic, number] = cluster.until(end, f"{topic}-{number} has an open end") - 1
    return ends


def compare(cluster: ClusterProcesses, ends: dict[Partition, int]) -> int:
    """Compare all replicas with their leaders; gives how many batches are the same everywhere."""
    view = cluster.view(cluster.running()[0])
    assert view is not None
    wires = {each: cluster.connect(each) for each in cluster.running()}
    count = 0
    try:
        for (topic, number), partition in view.partitions.items():
            held = {
                each: batches_of(cluster, wires[each], topic, number, ends[topic, number])
                for each in partition.replica_nodes
            }
            leader = held.pop(partition.leader_id)
            for replica, batches in held.items():
                other = [
                    offset
                    for offset in leader.keys() | batches.keys()
                    if leader.get(offset) != batches.get(offset)
                ]
                assert not other, (
                    f"{topic}-{number}: broker {replica} has something else than its leader"
                    f" {partition.leader_id} at {sorted(other)[:5]}"
                )
            count += len(leader) * (len(held) + 1)
    finally:
        for wire in wires.values():
            wire.socket.close()
    return count


def batches_of(
    cluster: ClusterProcesses, wire: Wire, topic: str, number: int, end: int
) -> Batches:  # fmt: skip
    """All batches before this offset, from whatever replica is asked."""
    found: Batches = {}
    offset = 0

    def step() -> bool:
        nonlocal offset
        wanted = FetchPartition(number, fetch_offset=offset, partition_max_bytes=FETCH_BYTES)
        request = FetchRequest(
            max_bytes=FETCH_BYTES, topics=[FetchTopic(topic, partitions=[wanted])]
        )
        data = wire.ask(request, FETCH_VERSION).responses[0].partitions[0]
        assert data.error_code in {0, *NOT_YET}, ErrorCode(data.error_code).name
        for header, batch in split_batches(data.records or b"", tolerate_partial=True):
            found[header.base_offset] = bytes(batch)
            offset = header.next_offset
        return offset >= end

    if end:
        cluster.until(step, f"{topic}-{number} does not come to {end}, but to {offset}")
    return found

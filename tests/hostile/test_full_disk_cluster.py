"""Three brokers and their controller on one disk that gets full, and SIGKILL for all brokers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.writer import build_batch

from tests.hostile.failing_broker import SEED, SWITCH
from tests.hostile.failing_disks import FailingDisk
from tests.hostile.transactional_loop import RefusingDisk
from tests.support.cluster_processes import ClusterProcesses
from tests.support.small_disk import SmallDisk, SmallDiskUnavailableError
from tests.support.up import PRODUCE_VERSION, Wire, produce_request

pytestmark = pytest.mark.slow
MAY_COME = {
    ErrorCode.KAFKA_STORAGE_ERROR,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
}


class Place(NamedTuple):
    """A disk that refuses when it is told to, and how processes get at it."""

    disk: RefusingDisk
    before: tuple[str, ...]
    data_dir: str


@pytest.fixture(params=["full", "failing"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "full":
        try:
            with SmallDisk(24) as disk:
                yield Place(disk, disk.before, f"{disk.path}/data")
        except SmallDiskUnavailableError as error:
            pytest.skip(f"no small disk can be mounted: {error}; the failing one needs no mount")
        return
    # All of the cluster's processes begin with this module.
    root = Path(__file__).parents[2]
    (tmp_path / "sitecustomize.py").write_text(
        "from tests.hostile.failing_broker import install\n\ninstall()\n"
    )
    switch = tmp_path / "fails"
    variables = (f"PYTHONPATH={tmp_path}:{root}", f"{SWITCH}={switch}", f"{SEED}=cluster")
    yield Place(FailingDisk(switch), ("env", *variables), str(tmp_path / "data"))


def produce(client: Wire, number: int, period: int) -> int:
    value = b"%d " % number + bytes(3_000)
    batch = build_batch(None, [value], 10_000 * period)
    request = produce_request("t", batch)
    request.timeout_ms = 1_000
    answer = client.ask(request, PRODUCE_VERSION).responses[0].partition_responses[0]
    return int(answer.error_code)


def test_three_brokers_on_one_full_disk_keep_what_they_acknowledged(
    tmp_path: Path, place: Place
) -> None:
    """Whatever was refused may be there (a leader may have it), what was acknowledged is."""
    acknowledged: list[int] = []
    with ClusterProcesses(
        tmp_path, "--topic", "t:1:segment.ms=1000", before=place.before,
        data_dir=place.data_dir,
    ) as cluster:  # fmt: skip
        cluster.until_settled()
        number = 0
        for period in range(3):
            with cluster.connect(cluster.leader("t", 0)) as client:
                refused = 0
                while refused < 5:
                    if len(acknowledged) >= 40 * (period + 1):
                        place.disk.fill()
                    code = produce(client, number, period)
                    if code:
                        assert code in MAY_COME
                        refused += 1
                    else:
                        acknowledged.append(number)
                    number += 1
            place.disk.make_room()
            cluster.until_settled()
        with cluster.connect(cluster.leader("t", 0)) as client:
            for _ in range(40):
                assert not produce(client, number, 5)
                acknowledged.append(number)
                number += 1
        for broker_id in cluster.broker_ids:
            cluster.kill(broker_id)
        for broker_id in cluster.broker_ids:
            cluster.start(broker_id)
        cluster.until_settled()
        with cluster.connect(cluster.leader("t", 0)) as client:
            found = [int(bytes(each.value or b"").split()[0]) for each in client.fetch("t")]
        assert len(set(found)) == len(found)
        assert set(acknowledged) <= set(found)
        assert "Traceback" not in cluster.said()

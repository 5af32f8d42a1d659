"""AllocateProducerIds (KIP-730): blocks follow each other, also over restarts."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.controller.allocation_rate import AllocationRate
from fencepost_broker.controller.ports import ControllerSettings
from fencepost_broker.controller.producer_id_import import ImportedBlock, ImportRefusedError
from fencepost_broker.controller.producer_ids import import_block
from fencepost_broker.metadata.decision import Decision
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import ProducerIds
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsRequest
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.producer_ids_record import ProducerIdsRecord

from tests.machine.controller.cluster import CLUSTER_ID, NODE_ID, Cluster

LONG_MAX = (1 << 63) - 1


def allocate(cluster: Cluster, broker_id: int = 1, epoch: int | None = None) -> tuple[Any, ...]:
    if epoch is None:
        epoch = cluster.image.cluster.brokers[broker_id].epoch
    answer = cluster.ask(AllocateProducerIdsRequest(broker_id, epoch))
    code = ErrorCode(answer.error_code).name
    return code, answer.producer_id_start, answer.producer_id_len


def test_blocks_follow_each_other() -> None:
    cluster = Cluster().up(1, 2)
    assert allocate(cluster) == ("NONE", 0, 1000)
    assert allocate(cluster, 2) == ("NONE", 1000, 1000)
    assert allocate(cluster.restarted()) == ("NONE", 2000, 1000)
    assert cluster.image.producer_ids.latest == ProducerIds(
        2, cluster.image.cluster.brokers[2].epoch, 2000
    )


def test_the_record_is_the_only_trace() -> None:
    cluster = Cluster().up(1)
    broker = cluster.image.cluster.brokers[1]
    decision = cluster.controller.handle(0, AllocateProducerIdsRequest(1, broker.epoch))
    (record,) = decision.records
    assert record.message == ProducerIdsRecord(1, broker.epoch, 1000)
    again = cluster.controller.handle(0, AllocateProducerIdsRequest(1, broker.epoch))
    assert again.answer == decision.answer  # what was not appended was not given


def test_only_to_a_broker_with_its_epoch() -> None:
    cluster = Cluster().up(1)
    epoch = cluster.image.cluster.brokers[1].epoch
    for broker_id, asked in ((1, -1), (1, epoch - 1), (1, epoch + 1), (2, epoch), (-1, -1)):
        assert allocate(cluster, broker_id, asked) == ("STALE_BROKER_EPOCH", 0, 0)
    cluster.register(1, incarnation=1)
    assert allocate(cluster, 1, epoch) == ("STALE_BROKER_EPOCH", 0, 0)


def test_to_those_who_are_named_only() -> None:
    """Who is not gets the same answer whether it is registered or not, and no record is written."""
    settings = ControllerSettings(NODE_ID, CLUSTER_ID, producer_id_brokers=frozenset({2}))
    cluster = Cluster(settings=settings).up(1, 2)
    end = cluster.image.last_offset
    for asked in (cluster.image.cluster.brokers[1].epoch, -1):
        assert allocate(cluster, 1, asked) == ("CLUSTER_AUTHORIZATION_FAILED", 0, 0)
    assert cluster.image.last_offset == end
    assert allocate(cluster, 2) == ("NONE", 0, 1000)


def test_a_fenced_broker_gets_one_as_in_kafka() -> None:
    cluster = Cluster()
    cluster.register(1)
    assert allocate(cluster) == ("NONE", 0, 1000)


def test_the_last_block_and_none_behind_it() -> None:
    cluster = Cluster(check=False).up(1)
    last_start = LONG_MAX - 1000
    image: MetadataImage = cluster.image
    image.producer_ids.latest = ProducerIds(1, 0, last_start)
    assert allocate(cluster) == ("NONE", last_start, 1000)
    assert image.producer_ids.latest.next_producer_id == LONG_MAX
    assert allocate(cluster) == ("UNKNOWN_SERVER_ERROR", 0, 0)
    image.producer_ids.latest = ProducerIds(1, 0, last_start + 1)
    assert allocate(cluster) == ("UNKNOWN_SERVER_ERROR", 0, 0)


# -- the block of a cluster that had ZooKeeper ---------------------------------------------------


def test_ids_go_on_behind_an_imported_block() -> None:
    cluster = Cluster().up(1)
    (record,) = import_block(cluster.image, ImportedBlock(7, 5000, 5999))
    assert record.message == ProducerIdsRecord(7, -1, 6000)
    cluster.run(Decision(None, (record,)))
    assert allocate(cluster) == ("NONE", 6000, 1000)
    assert not import_block(cluster.image, ImportedBlock(7, 5000, 5999)), "taken over once"


def test_a_block_is_not_imported_behind_ids_that_were_given_here() -> None:
    cluster = Cluster().up(1)
    allocate(cluster)
    with pytest.raises(ImportRefusedError, match="ids up to 999 are already allocated here"):
        import_block(cluster.image, ImportedBlock(7, 5000, 5999))
    assert not import_block(cluster.image, ImportedBlock(7, 0, 999))


def test_behind_the_last_id_there_is_no_block() -> None:
    with pytest.raises(ImportRefusedError, match="no producer ids after"):
        import_block(MetadataImage(), ImportedBlock(7, LONG_MAX - 1, LONG_MAX))


# -- how many --------------------------------------------------------------------------------------


def test_a_broker_that_takes_many_blocks_is_told_to_wait() -> None:
    rate = AllocationRate()
    assert [rate.taken(1, 0, 2.0) for _ in range(4)] == [0, 0, 500, 1000]
    assert rate.taken(2, 0, 2.0) == 0, "each broker for itself"
    assert rate.taken(1, 1000, 2.0) == 500, "what it kept still for is given back"
    assert rate.taken(1, 60_000, 2.0) == 0
    assert [rate.taken(1, 60_000, 2.0) for _ in range(2)] == [0, 500], "no more than a second's"
    assert [rate.taken(3, 0, 0.5) for _ in range(2)] == [0, 2000], "one at least is there at once"
    assert not any(rate.taken(4, 0, 0.0) for _ in range(1000)), "0 is no limit"
    assert rate.taken(1, 0, 2.0) == 1000, "a clock that went back gives nothing"

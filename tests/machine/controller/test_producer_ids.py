"""AllocateProducerIds (KIP-730): blocks follow each other, also over restarts."""

from __future__ import annotations

from typing import Any

from fencepost_broker.controller.image import Image
from fencepost_broker.controller.model import ProducerIds
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsRequest
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.producer_ids_record import ProducerIdsRecord

from tests.machine.controller.cluster import Cluster

LONG_MAX = (1 << 63) - 1


def allocate(cluster: Cluster, broker_id: int = 1, epoch: int | None = None) -> tuple[Any, ...]:
    if epoch is None:
        epoch = cluster.image.brokers[broker_id].epoch
    answer = cluster.ask(AllocateProducerIdsRequest(broker_id, epoch))
    code = ErrorCode(answer.error_code).name
    return code, answer.producer_id_start, answer.producer_id_len


def test_blocks_follow_each_other() -> None:
    cluster = Cluster().up(1, 2)
    assert allocate(cluster) == ("NONE", 0, 1000)
    assert allocate(cluster, 2) == ("NONE", 1000, 1000)
    assert allocate(cluster.restarted()) == ("NONE", 2000, 1000)
    assert cluster.image.producer_ids == ProducerIds(2, cluster.image.brokers[2].epoch, 2000)


def test_the_record_is_the_only_trace() -> None:
    cluster = Cluster().up(1)
    broker = cluster.image.brokers[1]
    decision = cluster.controller.handle(0, AllocateProducerIdsRequest(1, broker.epoch))
    (record,) = decision.records
    assert record.message == ProducerIdsRecord(1, broker.epoch, 1000)
    again = cluster.controller.handle(0, AllocateProducerIdsRequest(1, broker.epoch))
    assert again.answer == decision.answer  # what was not appended was not given


def test_only_to_a_broker_with_its_epoch() -> None:
    cluster = Cluster().up(1)
    epoch = cluster.image.brokers[1].epoch
    for broker_id, asked in ((1, -1), (1, epoch - 1), (1, epoch + 1), (2, epoch), (-1, -1)):
        assert allocate(cluster, broker_id, asked) == ("STALE_BROKER_EPOCH", 0, 0)
    cluster.register(1, incarnation=1)
    assert allocate(cluster, 1, epoch) == ("STALE_BROKER_EPOCH", 0, 0)


def test_a_fenced_broker_gets_one_as_in_kafka() -> None:
    cluster = Cluster()
    cluster.register(1)
    assert allocate(cluster) == ("NONE", 0, 1000)


def test_the_last_block_and_none_behind_it() -> None:
    cluster = Cluster(check=False).up(1)
    last_start = LONG_MAX - 1000
    image: Image = cluster.image
    image.producer_ids = ProducerIds(1, 0, last_start)
    assert allocate(cluster) == ("NONE", last_start, 1000)
    assert image.producer_ids.next_producer_id == LONG_MAX
    assert allocate(cluster) == ("UNKNOWN_SERVER_ERROR", 0, 0)
    image.producer_ids = ProducerIds(1, 0, last_start + 1)
    assert allocate(cluster) == ("UNKNOWN_SERVER_ERROR", 0, 0)

"""A leader's log and settings, on a clock that the test moves."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost_broker.metadata.image.model import Broker, Partition

LAG_MS = 30_000


@dataclass
class Config:
    min_insync_replicas: int = 1


@dataclass
class Log:
    config: Config
    log_end_offset: int = 0
    high_watermark: int = 0

    def set_high_watermark(self, offset: int) -> bool:
        assert offset <= self.log_end_offset
        moved = offset != self.high_watermark
        self.high_watermark = offset
        return moved


def placed(*isr: int, leader: int = 1, leader_epoch: int = 0, epoch: int = 0) -> Partition:
    return Partition(0, (1, 2, 3), isr, leader, leader_epoch, epoch, (b"",) * 3)


def up(*broker_ids: int, epoch: int = 0) -> dict[int, Broker]:
    return {
        each: Broker(each, epoch + each, bytes(16), (), (), fenced=False) for each in broker_ids
    }

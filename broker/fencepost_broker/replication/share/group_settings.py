"""The settings of a share group that share partitions need."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from fencepost_broker.config import SettingsError, SettingsOfGroup
from fencepost_broker.metadata.dynamic_config import DynamicConfig
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.replication.share.share_partition import ShareLimits
from fencepost_broker.storage.log import PartitionLog

LATEST: Final = "latest"
EARLIEST: Final = "earliest"
_DURATION: Final = re.compile(
    r"by_duration:P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d*)?)S)?)?", re.IGNORECASE
)
_UNITS_MS: Final = (86_400_000, 3_600_000, 60_000, 1000)


@dataclass(frozen=True, slots=True)
class ShareGroupSettings:
    """The settings of one group."""

    limits: ShareLimits = field(default_factory=ShareLimits)
    auto_offset_reset: str = LATEST
    """Where a share partition begins that has no start offset yet."""
    is_read_committed: bool = False
    may_renew: bool = True


def share_group_settings(
    config: DynamicConfig, image: MetadataImage, group_id: str
) -> ShareGroupSettings:
    """Return a group's own settings; missing and invalid ones are the broker's."""
    given = image.configs.of(ResourceType.GROUP, group_id)
    known = {name: value for name, value in given.items() if name in SettingsOfGroup.settings}
    try:
        group: Any = config.settings.group(known)
    except SettingsError:
        group = config.settings.group()
    return ShareGroupSettings(
        ShareLimits(
            group.share_record_lock_duration_ms,
            group.share_delivery_count_limit,
            group.share_partition_max_record_locks,
        ),
        group.share_auto_offset_reset,
        group.share_isolation_level == "read_committed",
        group.share_renew_acknowledge_enable,
    )


def start_offset(settings: ShareGroupSettings, log: PartitionLog, now_ms: int) -> int:
    """Return where a share partition begins that has no start offset yet."""
    reset = settings.auto_offset_reset
    if reset == EARLIEST:
        return log.log_start_offset
    matched = _DURATION.fullmatch(reset)
    if matched is not None:
        parts = (float(each or 0) for each in matched.groups())
        age_ms = sum(int(part * unit) for part, unit in zip(parts, _UNITS_MS, strict=True))
        found = log.offset_for_timestamp(now_ms - age_ms)
        if found is not None and found.offset < log.high_watermark:
            return found.offset
    return log.high_watermark

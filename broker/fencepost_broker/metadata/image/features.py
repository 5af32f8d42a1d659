"""The finalized features of the metadata image (KIP-584)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fencepost_broker.metadata.image.changes import Change, Changes, FeatureChanged

if TYPE_CHECKING:
    from fencepost_protocol.generated.feature_level_record import FeatureLevelRecord


class FeaturesImage:
    """The finalized levels of all features."""

    __slots__ = ("levels",)

    def __init__(self) -> None:
        self.levels: dict[str, int] = {}
        """The level of each feature; one at level 0 is absent."""

    def apply(self, record: FeatureLevelRecord) -> Changes:
        """Apply a record that sets a feature's level."""
        if record.feature_level:
            self.levels[record.name] = record.feature_level
        else:
            self.levels.pop(record.name, None)
        return (FeatureChanged(record.name, record.feature_level),)

    def differences(self, later: FeaturesImage) -> Iterator[Change]:
        """Yield what leads to a later image."""
        for name in sorted(self.levels.keys() | later.levels.keys()):
            if self.levels.get(name) != later.levels.get(name):
                yield FeatureChanged(name, later.levels.get(name, 0))

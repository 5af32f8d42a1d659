"""Finalized features (KIP-584): those that are implemented, and their levels."""

from __future__ import annotations

from typing import Final

from fencepost_broker.controller.model import FeatureRange

METADATA_VERSION: Final = "metadata.version"
METADATA_LEVEL: Final = 30
"""Apache Kafka 4.3's own; records are written in this level's versions and in no others."""

SUPPORTED_FEATURES: Final = (
    FeatureRange("group.version", 0, 1),
    FeatureRange(METADATA_VERSION, METADATA_LEVEL, METADATA_LEVEL),
    FeatureRange("transaction.version", 0, 2),
)
"""What is implemented, by name; a fresh cluster starts at the highest levels."""

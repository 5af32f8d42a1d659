"""How far a consumer has read."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost_client import Consumer, TopicPartition


def has_reached(consumer: Consumer, ends: Mapping[TopicPartition, int]) -> bool:
    """Whether a consumer has read up to these offsets, or further.

    Further: markers may come after the ends were asked for, since Kafka answers a commit before all
    of them are written.
    """
    positions = consumer.positions()
    return all(positions.get(where, 0) >= end for where, end in ends.items())

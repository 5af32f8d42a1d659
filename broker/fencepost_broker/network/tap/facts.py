"""The facts about a broker that its tap tells subscribers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fencepost_broker.replication.partition import PartitionTable

Stats = Callable[[], dict[str, Any]]


class Facts:
    """Answers subscribers' questions about a broker."""

    def __init__(self, node_id: int, cluster_id: str, table: PartitionTable, stats: Stats) -> None:
        self.node_id = node_id
        self.cluster_id = cluster_id
        self.table = table
        self._stats = stats

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of the topic with this id, or ``None``."""
        topic = self.table.by_id.get(topic_id)
        return None if topic is None else topic.name

    def stats(self) -> bytes:
        """Return all counters as JSON."""
        return json.dumps(self._stats()).encode()

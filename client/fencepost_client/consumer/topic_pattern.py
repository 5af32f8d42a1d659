"""Subscriptions by a regular expression, for classic groups."""

from __future__ import annotations

import re

from fencepost_client.errors import ConfigError
from fencepost_client.metadata.cluster import Cluster


class TopicPattern:
    """An expression that must match whole topic names; internal topics are left out."""

    def __init__(self, regex: str) -> None:
        try:
            self._matches = re.compile(regex).fullmatch
        except re.error as error:
            raise ConfigError(f"{regex!r:.300} is not a regular expression: {error}") from None

    def topics(self, cluster: Cluster) -> frozenset[str]:
        """The matching topics of the cluster."""
        return frozenset(
            name
            for name, topic in cluster.topics.items()
            if topic.partition_count and not topic.is_internal and self._matches(name)
        )

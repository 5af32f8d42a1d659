"""A node of a cluster in a Python program, and its part of the cluster's snapshots."""

from __future__ import annotations

from collections.abc import Collection

from fencepost_broker.server.controller_server import ControllerServer
from fencepost_broker.server.embedded.broker import Broker
from fencepost_broker.server.embedded.snapshot import NoSnapshotsError, Snapshot, taken
from fencepost_broker.storage.disk.memory import MemoryDisk


class ClusterNode(Broker):
    """A broker or the controller of a cluster."""

    def part(self) -> Snapshot:
        """Return this node's part of a snapshot; a node that was stopped has one, too."""
        disk, at = self._disk, self.clock.position
        if not isinstance(disk, MemoryDisk):
            raise NoSnapshotsError("only clusters in memory have snapshots")
        return (
            Snapshot(disk.copy(), at)
            if self._process is None
            else taken(self._process.server, disk, at)
        )

    def begin_with(self, part: Snapshot) -> None:
        """Continue from this state at the next start, with the topics that are in it."""
        self._disk, self._topics = part.disk(), []
        self.clock.set(part.at)

    def brokers_ended(self, starting: Collection[int]) -> None:
        """Tell the controller, which is this node, that only these brokers will start again."""
        assert self._process is not None
        assert isinstance(self._process.server, ControllerServer)
        self._process.server.brokers_ended(starting)

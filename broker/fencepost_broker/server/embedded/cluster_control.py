"""The control port of a cluster in a program: it asks the nodes' own ports, as for processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from fencepost_broker.config.errors import SettingsError
from fencepost_broker.server.control.cluster import WholeCluster
from fencepost_broker.server.control.cluster_port import ClusterControl
from fencepost_broker.server.control.guard import read_token
from fencepost_broker.server.embedded.cluster_node import ClusterNode
from fencepost_broker.server.embedded.settings import log_lines
from fencepost_broker.server.errors import ProcessError


class Cluster(WholeCluster, Protocol):
    """A cluster in a program."""

    @property
    def node_roles(self) -> Mapping[int, str]:
        """The role of each node, by its id."""

    @property
    def nodes(self) -> Mapping[int, ClusterNode]:
        """The nodes that run."""

    @property
    def bootstrap(self) -> str:
        """The addresses of all brokers."""

    @property
    def log_level(self) -> str:
        """The lowest level of log lines."""

    async def kill(self, broker_id: int) -> None:
        """End a broker at once."""

    async def stop_broker(self, broker_id: int) -> None:
        """Stop a broker in order."""

    async def start_broker(self, broker_id: int) -> None:
        """Start a broker that was stopped or killed."""

    async def reset(self) -> None:
        """Go back to the state right after the start."""


class Node:
    """A node, as the control port knows a process."""

    def __init__(self, node_id: int, role: str, cluster: Cluster) -> None:
        self.node_id = node_id
        self.roles: tuple[str, ...] = (role,)
        self.label = f"{role}-{node_id}" if role == "broker" else role
        self._cluster = cluster

    @property
    def state(self) -> str:
        """Whether it is up or down."""
        return "up" if self.node_id in self._cluster.nodes else "down"

    @property
    def control(self) -> str:
        """``HOST:PORT`` of its own control port."""
        return self._cluster.nodes[self.node_id].control or ""

    def told(self) -> dict[str, Any]:
        """Return its state for users."""
        node = self._cluster.nodes.get(self.node_id)
        return {
            "id": self.node_id,
            "label": self.label,
            "roles": self.roles,
            "state": self.state,
            "pid": None if node is None else os.getpid(),
            "bootstrap": "" if node is None else node.bootstrap,
        }


class Nodes:
    """The nodes, as the control port knows processes."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.members = {
            node_id: Node(node_id, role, cluster) for node_id, role in cluster.node_roles.items()
        }
        """All nodes, by id."""

    @property
    def bootstrap(self) -> str:
        """The addresses of all brokers."""
        return self._cluster.bootstrap

    async def do(self, what: str, node_id: int) -> None:
        """Start, stop or kill a broker; raises ``ProcessError``."""
        cluster = self._cluster
        call = {
            "start": cluster.start_broker, "stop": cluster.stop_broker, "kill": cluster.kill,
        }.get(what)  # fmt: skip
        if call is None:
            raise ProcessError(f"a cluster in a program cannot {what} a node: it is no process")
        try:
            await call(node_id)
        except (RuntimeError, ValueError) as error:
            raise ProcessError(str(error)) from None

    async def reset(self) -> None:
        """Go back to the state right after the start."""
        await self._cluster.reset()


def control_of(cluster: Cluster, address: str, token_file: str | Path | None) -> ClusterControl:
    """Return the control port of a cluster; raises ``SettingsError`` for a wrong token file."""
    token, path = "", None
    if token_file is not None:
        path = os.fspath(token_file)
        try:
            token = read_token(path)
        except ValueError as error:
            raise SettingsError([str(error)]) from None
    log = log_lines(cluster.log_level).area("server")
    return ClusterControl(Nodes(cluster), token, address, path, log, whole=cluster)

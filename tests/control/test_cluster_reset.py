"""A cluster of processes goes back to the state right after its start."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_broker.server.control.client import ControlClient, ControlError, path_of

from tests.support.cluster_processes import ClusterProcesses

pytestmark = pytest.mark.slow


def client_of(processes: ClusterProcesses) -> ControlClient:
    host, _, port = processes.told["control"].rpartition(":")
    return ControlClient(host, int(port))


def test_processes_are_started_again_with_nothing(tmp_path: Path) -> None:
    words = ("--topic", "t:1", "--control", "0", "--combined")
    with ClusterProcesses(tmp_path, *words, brokers=2, keeps=False) as processes:
        client = client_of(processes)
        before = client.ask("GET", "/v1/processes")["processes"]
        client.ask("POST", "/v1/topics", {"name": "made"})
        client.ask("POST", "/v1/faults", {"name": "late", "act": {"type": "delay", "ms": 0}})
        client.ask("POST", path_of("processes", 2, "kill"))
        client.ask("POST", "/v1/reset")
        after = client.ask("GET", "/v1/processes")["processes"]
        assert [each["bootstrap"] for each in after] == [each["bootstrap"] for each in before]
        assert {each["state"] for each in after} == {"up"}
        assert all(a["pid"] != b["pid"] for a, b in zip(after, before, strict=True))
        topics = client.ask("GET", "/v1/topics")["topics"]
        assert [each["name"] for each in topics if not each["name"].startswith("__")] == ["t"]
        assert client.ask("GET", "/v1/faults") == {"faults": []}
        client.ask("POST", "/v1/faults", {"name": "late", "act": {"type": "delay", "ms": 0}})


def test_a_cluster_with_a_data_directory_is_not_reset(tmp_path: Path) -> None:
    with ClusterProcesses(tmp_path, "--control", "0", "--combined", brokers=1) as processes:
        with pytest.raises(ControlError, match="keeps its data") as refused:
            client_of(processes).ask("POST", "/v1/reset")
        assert refused.value.status == 409

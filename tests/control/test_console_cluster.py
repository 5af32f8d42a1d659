"""The console of a cluster: its page, and who knows what of records and open transactions."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from fencepost_broker.server.control.client import ControlClient, path_of
from fencepost_client.blocking import Producer

from tests.support.cluster_processes import ClusterProcesses

pytestmark = pytest.mark.slow
PARTITIONS = 4


def test_leaders_have_the_records_and_coordinators_know_who_holds_offsets(tmp_path: Path) -> None:
    words = ("--console", "0", "--topic", f"t:{PARTITIONS}")
    with ClusterProcesses(tmp_path / "c", *words, brokers=2) as processes:
        address = processes.told["control"]
        with urlopen(f"http://{address}/") as page:
            assert b"Fencepost console" in page.read()
        host, _, port = address.rpartition(":")
        control = ControlClient(host, int(port))
        assert control.ask("GET", "/v1/about")["kind"] == "cluster"
        control.ask("POST", "/v1/operations", {"type": "hold-markers"})
        bootstrap = processes.told["bootstrap"]
        with (
            Producer(bootstrap, transactional_id="payments") as producer,
            producer.transaction() as transaction,
        ):
            for number in range(PARTITIONS):
                transaction.send("t", b"%d" % number, partition=number)
        told = control.ask("GET", "/v1/topics/t")["partitions"]
        assert {each["leader"] for each in told} == {1, 2}
        for each in told:
            at = path_of("topics", "t", "partitions", each["partition"])
            holder: dict[str, Any] = control.ask("GET", at)["holder"]
            assert (holder["transactional_id"], holder["hangs"]) == ("payments", False)
            written = control.ask("POST", f"{at}/records", {"value": "x"})
            batches = control.ask("GET", f"{at}/records")["batches"]
            assert [batch["outcome"] for batch in batches] == ["open", ""]
            assert batches[-1]["base_offset"] == written["offset"] == 1

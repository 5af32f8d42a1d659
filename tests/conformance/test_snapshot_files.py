"""Apache Kafka's DumpLogSegments reads the data directory that a snapshot writes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from fencepost_broker import Broker, Snapshot

from tests.conformance.log_files import DUMPED, dump
from tests.support.apache_kafka import KafkaUnavailableError, fetch
from tests.support.broker import Client
from tests.wire.transaction_harness import Producer, until_state

pytestmark = [pytest.mark.conformance, pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def _java() -> None:
    try:
        fetch()
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    if shutil.which("java") is None:
        pytest.skip("there is no Java runtime")


@pytest.mark.asyncio
async def test_kafka_reads_a_snapshot(tmp_path: Path) -> None:
    async with Broker(topics={"t": 1}, log_level="error") as broker:
        async with Client(broker.bootstrap) as client:
            await client.produce("t", 0, *[bytes(1000)] * 100)
            producer = Producer(client)
            await producer.start()
            for outcome in ("commit", "abort"):
                await producer.send()
                await producer.end(outcome)
                await until_state(client, f"Complete{outcome.title()}")
            await producer.send()  # it stays open
            for _ in range(2):
                broker.snapshot().save(tmp_path / "file")
                await client.produce("t", 0, *[bytes(1000)] * 100)
        Snapshot.load(tmp_path / "file").write_data_dir(tmp_path / "data")
    folders = [each for each in (tmp_path / "data").iterdir() if each.is_dir()]
    assert {each.name for each in folders} >= {"t-0", "__cluster_metadata-0"}
    for folder in folders:
        files = sorted(each for each in folder.iterdir() if each.suffix in DUMPED)
        said = dump(files) if files else ""
        for complaint in ("ismatch", "Exception", "ERROR", "out of order", "isvalid: false"):
            assert complaint not in said, said
        if folder.name == "t-0":
            assert said.count("endTxnMarker: COMMIT") == said.count("endTxnMarker: ABORT") == 1
            assert "baseOffset: 105 lastOffset: 204 count: 100" in said, said
            assert "producerId: 0 producerEpoch: " in said, "the snapshot of producers"

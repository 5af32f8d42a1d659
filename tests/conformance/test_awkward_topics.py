"""Apache Kafka and `fencepost topics make-awkward`: it serves the files, and takes the topics."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fencepost_broker.cli.main import main

from tests.conformance.log_files import DUMPED, dump
from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError
from tests.wire.awkward_harness import check, described

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

COMPLAINTS = ("ismatch", "Exception", "WARN", "ERROR", "out of order", "isvalid: false")


@pytest.fixture(scope="module")
def one_kafka() -> Iterator[ApacheKafka]:
    try:
        with ApacheKafka() as running:
            yield running
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


def test_clients_read_what_the_file_says_of_apache_kafka(
    one_kafka: ApacheKafka, tmp_path: Path
) -> None:
    path = str(tmp_path / "expected.json")
    make = ["topics", "make-awkward", "-b", one_kafka.bootstrap, "--expected", path]
    assert main([*make, "--prefix", "made-"]) == 0
    asyncio.run(check(one_kafka.bootstrap, described(Path(path))))


def test_apache_kafka_serves_the_data_directory(one_kafka: ApacheKafka, tmp_path: Path) -> None:
    path = tmp_path / "expected.json"
    data_dir = str(tmp_path / "data")
    assert main(["topics", "make-awkward", "--data-dir", data_dir, "--expected", str(path)]) == 0
    folders = sorted(Path(data_dir).glob("awkward-*"))
    said = dump(
        each for folder in folders for each in sorted(folder.iterdir()) if each.suffix in DUMPED
    )
    for complaint in COMPLAINTS:
        assert complaint not in said, said
    topics = described(path)
    for topic in topics:
        assert f"/{topic['topic']}-0/" in said

    one_kafka.stop()
    shutil.rmtree(one_kafka.data_dir)
    shutil.copytree(data_dir, one_kafka.data_dir)
    one_kafka.start()
    asyncio.run(check(one_kafka.bootstrap, topics))

"""What commands write as JSON has JSON's own types: no "yes", no "-", no number in quotes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.blocking import Broker
from fencepost_broker.cli.main import main
from fencepost_client.blocking import Consumer, Producer

COMMANDS = [
    "topics list --internal", "topics describe", "topics offsets orders", "groups list",
    "groups describe g", "groups members g", "configs list", "configs describe topic orders --all",
    "configs describe broker 1 --all", "transactions list", "transactions describe tx",
    "transactions describe-producers --topic orders --partition 0", "transactions explain tx",
    "transactions explain --partition orders:0", "transactions find-hanging",
]  # fmt: skip
BY_THEMSELVES = ["config", "config --topic", "producer-ids history {data}"]
NO_JSON = re.compile(r"-|yes|no|true|false|null|none|unknown|-?[0-9]+(\.[0-9]+)?", re.IGNORECASE)
TEXTS = {"value", "default", "key", "cluster_id", "allowed", "kafka_default", "name"}
"""Where a text may be any text: the values of settings, names of resources (of a broker its id)."""


def wrong(told: Any, path: str = "") -> Iterator[str]:
    if isinstance(told, dict):
        for name, each in told.items():
            if name not in TEXTS:
                yield from wrong(each, f"{path}.{name}")
    elif isinstance(told, list):
        for each in told:
            yield from wrong(each, f"{path}[]")
    elif isinstance(told, str) and NO_JSON.fullmatch(told):
        yield f"{path}={told!r}"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    folder = tmp_path_factory.mktemp("data")
    with (
        Broker(topics={"orders": 2}, data_dir=folder) as broker,
        Producer(broker.bootstrap, transactional_id="tx") as producer,
        Consumer(broker.bootstrap, group_id="g", auto_offset_reset="earliest") as consumer,
    ):
        with producer.transaction() as transaction:
            transaction.send("orders", b"1", partition=0)
        producer.begin()
        producer.send("orders", b"2", partition=0)
        consumer.subscribe(["orders"])
        consumer.getmany(timeout_ms=10_000)
        consumer.commit()
        yield broker
        producer.abort()


def output(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    code = main([*words, "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize("words", COMMANDS)
def test_of_commands_that_ask(
    words: str, broker: Broker, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not list(wrong(output(capsys, *words.split(), "-b", broker.bootstrap)))


def test_of_the_tap(broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    assert not list(wrong(output(capsys, "tap", broker.bootstrap, "--stats")))


@pytest.mark.parametrize("words", BY_THEMSELVES)
def test_of_others(
    words: str, broker: Broker, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = broker.settings.data_dirs[0]
    assert not list(wrong(output(capsys, *words.format(data=data).split())))

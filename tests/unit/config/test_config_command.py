"""``fencepost config``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from fencepost_broker.cli.commands.config import COMMAND, NOTHING_FOUND, OK, USAGE
from fencepost_broker.config import Settings, TopicSettings


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.settings:
        monkeypatch.delenv("FENCEPOST_" + name.replace(".", "_").upper(), raising=False)


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    COMMAND.add_arguments(parser)
    return COMMAND.run(parser.parse_args(arguments))


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [((), Settings.settings), (("--topic",), TopicSettings.settings)],
)
def test_every_setting_is_printed(
    arguments: tuple[str, ...], settings: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == OK
    printed = capsys.readouterr().out
    heads = [line.split(" = ")[0] for line in printed.splitlines() if line[:1] not in ("", " ")]
    assert heads == list(settings)
    texts = [line for line in printed.splitlines() if line.startswith(" ")]
    assert max(map(len, texts)) <= 120
    assert run(*arguments, "--json") == OK
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == list(settings)


def test_one_setting(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("group.initial.rebalance") == OK
    assert capsys.readouterr().out == (
        "group.initial.rebalance.delay.ms = 0\n"
        "    how long a new group waits for more members before its first rebalance\n"
        "    int; default 0; read-only\n"
        "    Kafka's default is 3000; Fencepost's differs because a test should not wait three"
        " seconds for\n"
        "    members that never come\n"
    )


def test_what_is_in_force_and_from_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.toml"
    file.write_text("log.retention.hours = 1\n")
    monkeypatch.setenv("FENCEPOST_NUM_PARTITIONS", "4")
    given = ("--config", str(file), "-c", "fsync=always", "--given")
    assert run(*given) == OK
    printed = capsys.readouterr().out
    assert "num.partitions = 4    from FENCEPOST_NUM_PARTITIONS in the environment\n" in printed
    assert f"log.retention.hours = 1    from {file}:1\n" in printed
    assert "fsync = always    from -c fsync\n" in printed
    assert printed.count(" from ") == 3
    assert run(*given, "--topic", "--json") == OK
    (told,) = json.loads(capsys.readouterr().out)
    assert told["name"] == "retention.ms"
    assert told["value"] == 3_600_000
    assert told["source"] == "file"
    assert told["place"] == f"{file}:1"
    assert told["synonyms"][0] == "log.retention.ms"


def test_json_tells_where_we_differ_from_kafka(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--json", "offsets.topic.replication.factor") == OK
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["default"], told["kafka_default"], told["type"]) == (1, 3, "short")
    assert told["because"]


def test_all_words_must_be_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("RETENTION", "minutes", "offsets.r") == OK
    assert capsys.readouterr().out.startswith("offsets.retention.minutes = ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["num.partitionz"], "did you mean num.partitions?"),
        (["zookeeper.connect"], "Fencepost does not support zookeeper.connect: Kafka removed this"),
        (["retention", "nonsense"], "no setting has all of retention, nonsense"),
    ],
)
def test_nothing_found(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*words) == NOTHING_FOUND
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err


def test_wrong_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("-c", "num.partitions=0", "-c", "x=1") == USAGE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("fencepost config: ") == 2
    assert "allowed: int, at least 1 (-c num.partitions)" in printed.err

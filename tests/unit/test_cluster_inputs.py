"""What ``fencepost up --brokers N`` refuses before anything is started, and how it says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_broker.cli.main import main


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--brokers 3 --topic a/b:3", "--topic a/b: 'a/b' has '/' in it"),
        (
            "--brokers 3 -c node.id=4",
            "node.id (-c node.id): with --brokers, each process has its own",
        ),
        ("--brokers 3 -c listeners=PLAINTEXT://:5555", "--host and --port set where"),
        ("--brokers 3 -c log.dirs=/data", "--data-dir DIR gets a folder for each process"),
        (
            "--brokers 3 -c super.users=User:alice -c authorizer.class.name="
            "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "authorizer.class.name needs User:ANONYMOUS in super.users",
        ),
    ],
)
def test_what_cannot_be_is_refused_at_once(
    words: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["up", *words.split(), "--run-dir", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("fencepost up: ")
    assert told in said
    assert not (tmp_path / "run").exists()

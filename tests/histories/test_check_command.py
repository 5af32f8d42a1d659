"""``fencepost check``: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from fencepost_broker.cli.main import main

from tests.histories.writing import Line, circle, poll, send

P = "orders-0"
LOST = [send("w", P, 0, "a", "<b>", "c"), poll("r", P, (0, "a"), (2, "c"))]


def written(folder: Path, lines: list[Line]) -> str:
    path = folder / "history.jsonl"
    text = "".join(json.dumps(line) + "\n" for line in ({"fencepost_history": 1}, *lines))
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_finding_is_told_with_its_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, LOST)
    assert main(["check", path]) == 1
    told = capsys.readouterr().out
    assert told.splitlines()[0] == "2 operations, 0 transactions: WRONG: lost-write"
    assert "to blame: `acks=1`" in told
    assert main(["check", path, "--allow", "lost-write"]) == 0
    assert "lost-write: 1 expected" in capsys.readouterr().out


def test_strict_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, LOST[:1])
    assert main(["check", path]) == 0
    capsys.readouterr()
    assert main(["check", path, "--strict", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["failed"] == ["unseen-write"]
    assert told["kinds"]["unseen-write"]["wrong"] == 3
    assert told["kinds"]["unseen-write"]["findings"][0]["kind"] == "unseen-write"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--allow", "lost"], "--allow lost: the kinds are lost-write"),
        (["--source", "orders"], "--source and --target go together"),
        (["--source", "a", "--target", "b", "--names", "x"], "has no group"),
        (["--out", "/"], "Is a directory"),
    ],
)
def test_wrong_arguments(
    arguments: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", written(tmp_path, LOST), *arguments]) == 2
    assert text in capsys.readouterr().err


def test_exactly_once_of_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [send("w", P, 0, "1"), send("p", "out-0", 0, "out-1"), send("p", "out-0", 1, "out-1")]
    path = written(tmp_path, lines)
    options = ["--source", "orders", "--target", "out", "--names", "out-(.*)"]
    assert main(["check", path]) == 0
    assert main(["check", path, *options]) == 1
    assert "double-output" in capsys.readouterr().out


@pytest.mark.parametrize("lines", [LOST, circle(isolation="read_committed")])
def test_the_page_is_one_file_with_pictures(lines: list[Line], tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    assert main(["check", written(tmp_path, lines), "--out", str(out)]) == 1
    page = out.read_text(encoding="utf-8")
    assert "<script" not in page
    assert "http://" not in page
    start = page.index("<svg")
    picture = ET.fromstring(page[start : page.index("</svg>") + len("</svg>")])
    assert "orders-0" in "".join(picture.itertext())

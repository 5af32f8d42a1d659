"""``fencepost audit`` on real files: what it says, what it writes, how it ends."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from fencepost_client.progress import Progress
from fencepost_pipeline.audit.audit_run import Wishes
from fencepost_pipeline.audit.audit_run import audit as run_audit
from fencepost_pipeline.audit.checks.consume_transform_produce import Transform
from fencepost_pipeline.audit.command import COMMAND, bytes_to_read
from fencepost_pipeline.audit.data_directories import DataDirectory
from fencepost_pipeline.audit.report.plots import histogram

from tests.pipeline.audit.traffic import GROUP, INVOICES, ORDERS

CTP = ["--group", GROUP, "--input", ORDERS, "--output", INVOICES]


def audit(*arguments: str | Path) -> int:
    parser = argparse.ArgumentParser()
    COMMAND.add_arguments(parser)
    return COMMAND.run(parser.parse_args([str(each) for each in arguments]))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none"], "none cannot be read: No such file or directory"),
        ([".", "--trace", "none.jsonl"], "none.jsonl cannot be read: No such file or directory"),
        (["."], "numpy is missing: pip install 'fencepost[audit]'"),
    ],
)
def test_what_is_given_is_looked_at_before_what_is_installed(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert audit(*arguments) == 2
    assert capsys.readouterr().err.startswith(f"fencepost audit: {said}")


@pytest.fixture
def folder(clean_folder: Path, tmp_path: Path) -> Path:
    """A copy of the clean data directory, to damage."""
    return Path(shutil.copytree(clean_folder, tmp_path / "data"))


def test_a_clean_directory(
    clean_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "out"
    assert audit(clean_folder, *CTP, "--out", out) == 0
    said = capsys.readouterr().out
    assert said.endswith(
        "did exactly-once hold?\n"
        "  inside the broker: yes\n"
        "  input to output: yes\n"
        "  what clients were told: not checked, because --trace is not given\n"
        f"report: {out / 'report.html'}\n"
    )
    assert said.count("\nholds ") == 15
    assert "not judged  acknowledged" in said
    names = {path.name for path in out.iterdir()}
    assert names == {"report.html"} | {
        f"{name}.parquet"
        for name in ("verdicts", "findings", "partitions", "pieces", "transactions")
    }
    assert pq.read_table(out / "findings.parquet").num_rows == 0
    transactions = pq.read_table(out / "transactions.parquet").to_pylist()
    pairs = [row for row in transactions if row["transactional_id"] == "pairs-1"]
    assert [row["outcome"] for row in pairs] == ["commit", "commit", "abort"] * 2 + ["commit"] * 2
    assert all(row["begin"] <= row["prepare"] <= row["complete"] for row in pairs)
    assert {row["records"] for row in pairs} == {4}


class _Page(HTMLParser):
    """Looks for what a page would load, and for tags that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.titles: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {"script", "link", "img", "iframe"}
        assert not {"src", "href"} & {name for name, _ in attrs}
        if tag not in {"meta", "br", "rect", "line", "path"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"rect", "line", "path"}:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "h2":
            self.titles.append(data)


def test_the_report_is_one_page_without_anything_from_elsewhere(
    folder: Path, tmp_path: Path
) -> None:
    damage(folder / "orders-0", lambda data: data[:-1] + bytes([data[-1] ^ 1]))
    assert audit(os.path.relpath(folder), "--out", tmp_path) == 1
    text = (tmp_path / "report.html").read_text()
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert "@import" not in text
    assert page.titles == [
        "Transactions", "Verdicts", "What is wrong", "How long each phase took", "Throughput",
        "What is there", "Partitions", "How it was counted",
    ]  # fmt: skip
    assert "prefers-color-scheme: dark" in text
    assert str(folder.resolve()) in text, "a relative path says nothing to who was not there"
    (log,) = (folder / "orders-0").glob("*.log")
    assert f"<summary>its bytes in <code class=soft>{log.resolve()}</code></summary>" in text
    assert f"{log.resolve()}, from byte " in text
    assert "base_offset             int64         18" in text, "taken apart"


def test_a_histogram_has_axes_of_times_and_of_counts() -> None:
    drawn = histogram(np.array([1] * 1500 + [3] * 20 + [5000]), "a phase")
    for count in ("0", "750", "1.5k"):
        assert f'text-anchor="end">{count}</text>' in drawn
    for time in ("0 ms", "1 ms", "2 ms", "4 s"):
        assert f">{time}</text>" in drawn


def damage(partition: Path, change: Callable[[bytes], bytes]) -> Path:
    (log,) = partition.glob("*.log")
    log.write_bytes(change(log.read_bytes()))
    return log


@pytest.mark.parametrize("where", ["checksum", "length"])
def test_a_corrupt_segment_is_told_and_the_rest_audited(
    folder: Path, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    at = 100 if where == "checksum" else 8

    def change(data: bytes) -> bytes:
        return data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]

    log = damage(folder / "orders-0", change)
    assert audit(folder) == 1
    said = capsys.readouterr().out
    assert "FAILS       readable" in said
    assert "orders-0 offset 0" in said
    assert f"in {log}" in said
    assert "inside the broker: no, 1 of 13 invariants fails" in said
    assert "input to output: not checked, because --group, --input and --output are not" in said
    assert "holds       atomicity" in said


def test_progress_counts_each_byte_once(clean_folder: Path) -> None:
    """Once for all logs, and once more for a program's own topics."""
    read: list[int] = []

    class Counting(Progress):
        def advance(self, parts: float = 1) -> None:
            read.append(int(parts))

    wishes = Wishes(transform=Transform(GROUP, ORDERS, INVOICES))
    logs = DataDirectory([clean_folder])
    run_audit(logs, wishes, Counting(0, "bytes", None))
    assert sum(read) == bytes_to_read(wishes, logs)


def test_a_torn_tail_is_no_fault(folder: Path) -> None:
    damage(folder / "orders-0", lambda data: data + data[:30])
    assert audit(folder) == 0


def test_what_cannot_be_read(
    tmp_path: Path, clean_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit(tmp_path / "nothing") == 2
    assert "nothing cannot be read: No such file" in capsys.readouterr().err
    assert audit(tmp_path) == 2
    assert "holds no log" in capsys.readouterr().err
    assert audit(clean_folder, "--group", "billing") == 2
    assert "--group, --input and --output go together" in capsys.readouterr().err
    assert audit(clean_folder, *CTP, "--id", "head:x") == 2
    assert "header:NAME" in capsys.readouterr().err
    for option, others in (("--input", CTP[4:]), ("--output", CTP[2:4])):
        assert audit(clean_folder, *CTP[:2], *others, option, "order") == 2
        said = capsys.readouterr().err
        assert f"{option} order: there is no log of this topic" in said
        assert "(there are: invoices, orders, pairs)" in said
    (tmp_path / "file").touch()
    assert audit(clean_folder, "--out", tmp_path / "file" / "out") == 2


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "this is no JSON"),
        ("[]", "an object is expected"),
        ("{}", "a line needs a 'topic' or a 'transactional_id'"),
        ('{"topic": "orders", "partition": 0}', "'offset' must be a whole number"),
        ('{"transactional_id": "t", "outcome": "?"}', "'outcome' must be"),
    ],
)
def test_a_trace_that_cannot_be_read(
    clean_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    line: str,
    complaint: str,
) -> None:
    trace = tmp_path / "trace"
    trace.write_text('\n{"topic": "orders", "partition": 0, "offset": 1}\n' + line)
    assert audit(clean_folder, "--trace", trace) == 2
    said = capsys.readouterr().err
    assert f"{trace}, line 3: " in said
    assert complaint in said


def test_a_trace(clean_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace"
    trace.write_text(
        '{"topic": "orders", "partition": 0, "offset": 19}\n'
        '{"transactional_id": "pairs-1", "producer_id": 1, "producer_epoch": 0,'
        ' "outcome": "commit"}\n'
    )
    assert audit(clean_folder, "--trace", trace) == 0
    trace.write_text('{"topic": "orders", "partition": 0, "offset": 20}\n')
    assert audit(clean_folder, "--trace", trace) == 1
    assert "line 1 of the trace: the log ends with offset 19" in capsys.readouterr().out


def test_a_missing_library_is_named(
    clean_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert audit(clean_folder) == 2
    assert "pip install 'fencepost[audit]'" in capsys.readouterr().err

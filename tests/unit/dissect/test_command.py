"""``fencepost dissect``: what it takes, what it prints, how it ends."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fencepost_protocol.dissect.command import BROKEN, COMMAND, OK, USAGE, main
from fencepost_protocol.records.writer import BatchBuilder

from tests.unit.dissect import captures
from tests.unit.dissect.harness import GOLDEN, Golden

ROOT = Path(__file__).parents[3]
REQUEST = "0000001c001a0003000000070003636c6900 0274 0000000000000001 0002 01 00"
ESCAPE = "\x1b["

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def run_command(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(list(arguments))
        out, err = capsys.readouterr()
        return code, out, err

    return run_command


def parsed(out: str) -> Any:
    return json.loads(out)


def batch(key: bytes, value: bytes | None) -> bytes:
    builder = BatchBuilder()
    builder.append(key, value, 1_700_000_000_000)
    return bytes(builder.build())


# -- what it takes ------------------------------------------------------------------------------


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
def test_the_golden_files_are_input_as_they_are(run: Run, golden: Golden, tmp_path: Path) -> None:
    path = Path(__file__).parent / "golden" / f"{golden.name}.txt"
    from_hex = run(*golden.options, str(path))
    assert from_hex[0] == (BROKEN if golden.is_broken else OK)
    binary = tmp_path / "message.bin"
    binary.write_bytes(golden.content)
    assert run(*golden.options, str(binary)) == from_hex
    assert run(*golden.options, stdin=golden.content) == from_hex
    assert run(*golden.options, "-", stdin=path.read_bytes()) == from_hex
    assert run(*golden.options, golden.content.hex(" ")) == from_hex
    assert run(*golden.options, *golden.content.hex(" ").split()) == from_hex
    lines = from_hex[1].splitlines()
    for raw, leaf in golden.lines:
        shown = [line for line in lines if f"  {raw} " in f"{line} "]
        assert shown or len(raw) > 23 or not raw, (raw, leaf)


def test_a_request_needs_no_option(run: Run) -> None:
    code, out, err = run(REQUEST)
    assert (code, err) == (OK, "")
    assert re.search(r"^0000001c +2  00 02 +producer_epoch +int16 +2$", out, re.MULTILINE)
    assert run(REQUEST[8:])[0] == OK
    assert 'transactional_id                         "t"' not in out
    assert re.search(r'00000013 +1  74 +transactional_id +compact string +"t"$', out, re.MULTILINE)


def test_several_frames_follow_one_another(run: Run) -> None:
    content = captures.request(1) + captures.other_request(2)
    code, out, _ = run("--json", stdin=content)
    first, second = parsed(out)
    assert code == OK
    assert (first["frame"], first["tree"]["type"]) == (1, "EndTxn v3 request")
    assert second["tree"]["offset"] == len(captures.request(1))
    code, out, _ = run("--response", "26:3", stdin=captures.response(1) + captures.response(2))
    assert (code, out.count("EndTxn v3 response")) == (OK, 2)
    assert "frame 2 of 2" in out


@pytest.mark.parametrize("name", ["EndTxn:3", "26:3", "endtxn:3", "EndTxnResponse:3"])
def test_an_api_may_be_named_in_several_ways(run: Run, name: str) -> None:
    code, out, _ = run("--response", name, captures.response(7, 51).hex())
    assert code == OK
    assert "(CONCURRENT_TRANSACTIONS)" in out


def test_a_bare_message(run: Run) -> None:
    code, out, _ = run("--message", "endtxnmarker:0", "0000 002a")
    assert code == OK
    assert re.search(r"coordinator_epoch +int32 +42$", out, re.MULTILINE)


def test_log_files_are_opened_by_their_folder_or_the_option(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "__transaction_state-1"
    folder.mkdir()
    path = folder / "00000000000000000000.log"
    path.write_bytes(batch(b"\0\0\0\2tx", None) * 2)
    code, out, _ = run(str(path))
    assert code == OK
    assert out.count("(TransactionLog)") == 2
    assert f"batch 1 at {path.stat().st_size // 2}" in out
    other = tmp_path / "copy.log"
    path.rename(other)
    assert "(TransactionLog)" not in run(str(other))[1]
    assert "(TransactionLog)" in run("--topic", "__transaction_state", str(other))[1]
    content = other.read_bytes()
    assert "(TransactionLog)" in run("--topic", "__transaction_state", stdin=content)[1]
    assert "record batch" in run("--records", content.hex())[1]


def test_captures_show_requests_with_their_responses(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "traffic"
    path.write_bytes(captures.pcapng(captures.conversation().packets))
    code, out, _ = run(str(path))
    assert code == OK
    heading = "2023-11-14T22:13:20.000004Z packet 4: 127.0.0.1:40000 -> 127.0.0.1:9092 "
    assert heading + "FindCoordinator v1 request 0\n" in out
    assert "EndTxn v3 response 1 after 0.001 ms" in out
    found = parsed(run("--json", str(path))[1])
    assert [each["kind"] for each in found] == ["request", "response"] * 3
    assert found[1]["latency_ns"] == 1000
    path.write_bytes(path.read_bytes()[:-30])
    code, out, _ = run(str(path))
    assert code == BROKEN
    assert "BROKEN: the file ends inside a block" in out


def test_no_bytes_are_nothing_to_dissect(run: Run, tmp_path: Path) -> None:
    assert run(stdin=b"") == (OK, "nothing to dissect: no bytes\n", "")
    assert run("--json", stdin=b" # nothing\n") == (OK, "[]\n", "")
    (tmp_path / "0.log").touch()
    assert run(str(tmp_path / "0.log"))[0] == OK


# -- what it prints -----------------------------------------------------------------------------


def test_json_has_every_node(run: Run) -> None:
    (item,) = parsed(run("--json", REQUEST)[1])
    size, header, body = item["tree"]["children"]
    assert size == {
        "path": "size", "role": "length", "type": "int32", "offset": 0, "length": 4,
        "bytes": "0000001c", "value": 28,
    }  # fmt: skip
    assert header["children"][0]["note"] == "EndTxn"
    assert body["children"][0]["children"][1]["value"] == "t"
    assert "about" not in body
    (explained,) = parsed(run("--json", "--explain", REQUEST)[1])
    assert explained["tree"]["children"][2]["about"]


def test_explain_adds_what_each_field_is_for(run: Run) -> None:
    from fencepost_protocol.schema import files

    out = run("--explain", REQUEST)[1]
    for field in files.load("EndTxnRequest").root.fields[:4]:
        assert " ".join(field.about.split()) in " ".join(out.split())


def test_broken_parts_are_marked_and_end_with_one(run: Run) -> None:
    code, out, err = run(REQUEST[:-6])
    assert (code, err) == (BROKEN, "")
    assert "BROKEN: a frame of 28 bytes, 26 are there" in out
    assert "BROKEN: cut short: 1 byte wanted, 0 left" in out
    code, out, _ = run("--json", REQUEST[:-6])
    assert code == BROKEN
    assert parsed(out)[0]["tree"]["children"][0]["state"] == "broken"


def test_colours_only_where_they_are_wanted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ESCAPE not in run(REQUEST)[1]
    assert ESCAPE in run("--color", REQUEST)[1]
    monkeypatch.setattr("fencepost_protocol.dissect.command._is_terminal", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert ESCAPE in run(REQUEST)[1]
    assert ESCAPE not in run("--no-color", REQUEST)[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert ESCAPE not in run(REQUEST)[1]
    assert ESCAPE in run("--color", REQUEST)[1]


def test_what_came_over_the_wire_does_not_reach_the_terminal_as_it_is(run: Run) -> None:
    evil = "\x1b]0;title\x07\u202e\r\n\x9b"
    content = captures.request(1, evil)
    out = run(stdin=content)[1]
    assert not set("\x1b\x07\u202e\r\x9b") & set(out)
    assert r'"\x1b]0;title\x07\u202e\r\n\x9b"' in out


def test_large_values_are_shortened_and_their_size_is_told(run: Run) -> None:
    content = captures.other_request(1, 10_000)
    out = run(stdin=content)[1]
    assert "and 9900 characters more" in out
    assert max(map(len, out.splitlines())) < 300
    (item,) = parsed(run("--json", stdin=content)[1])
    leaf = item["tree"]["children"][2]["children"][0]["children"][1]
    assert (len(leaf["value"]), leaf["value_omitted"]) == (4096, 10_000 - 4096)
    assert (len(leaf["bytes"]), leaf["bytes_omitted"]) == (2048, 10_000 - 1024)


# -- how it ends --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["no/such/file"], "no/such/file is neither a file that is there nor hex digits"),
        (["000"], "the argument has an odd number of hex digits: 3"),
        (["."], ". is a folder"),
        (["--response", "EndTxm:3", "00"], "there is no API 'EndTxm'; did you mean EndTxn?"),
        (["--response", "EndTxn:9", "00"], "EndTxn has versions 0-5, not 9"),
        (["--response", "EndTxn", "00"], "--response wants API:VERSION such as EndTxn:3 or 26:3"),
        (["--response", "999:0", "00"], "no API has the key 999"),
        (["--message", "TransactionLog:1", "00"], "did you mean TransactionLogKey or"),
        (["--message", "EndTxnMarker:1", "00"], "EndTxnMarker has versions 0, not 1"),
        (["--message", "zzz:1", "00"], "there is no message 'zzz'\n"),
        (["deadbeef"], "the bytes begin neither as a request nor as a record batch"),
    ],
)
def test_arguments_that_make_no_sense_are_told_in_one_line(
    run: Run, arguments: list[str], complaint: str
) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (USAGE, "")
    assert err.startswith("fencepost dissect: ")
    assert complaint in err
    assert err.count("\n") == 1


def test_a_file_that_may_not_be_read_is_told(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"\0")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    code, _, err = run(str(path))
    assert code == USAGE
    assert "Permission denied" in err


def test_argparse_s_own_complaints_are_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--request", "--records"])
    assert caught.value.code == USAGE
    assert "not allowed with" in capsys.readouterr().err


def test_it_is_a_command_of_fencepost() -> None:
    assert COMMAND.name == "dissect"
    assert COMMAND.help


def module(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    paths = [str(ROOT / "protocol"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-m", "fencepost_protocol.dissect", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, check=False, **options)


def test_as_a_process_of_its_own() -> None:
    done = module(REQUEST)
    assert (done.returncode, done.stderr) == (OK, b"")
    assert ESCAPE.encode() not in done.stdout
    assert module("000").returncode == USAGE


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of a shell")
def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(batch(b"k", b"v") * 2000)
    script = f'"{sys.executable}" -m fencepost_protocol.dissect "{path}" | head -1'
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "protocol")}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script], env=environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (OK, b"")
    assert done.stdout == b"batch 0 at 0\n"

"""What ``fencepost produce`` reads and ``fencepost consume`` writes, hostile lines among them."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import pytest
from fencepost_client.commands.formats import json_line, read_format, unescape
from fencepost_client.commands.lines import (
    BrokenLineError,
    JsonLines,
    LineSplitter,
    PlainLines,
    Record,
)
from fencepost_client.commands.options import beginning, escaped, header
from fencepost_client.types import ConsumerRecord

from tests.support.objects import held_bytes

STREAM = b"one\r\ntwo\r\n\r\nfo\rur\r\nrest"
LINES = [b"one", b"two", b"", b"fo\rur", b"rest"]


@pytest.mark.parametrize("size", range(1, len(STREAM) + 1))
def test_lines_are_the_same_wherever_the_stream_is_cut(size: int) -> None:
    splitter = LineSplitter(b"\r\n", 6)
    lines: list[bytes | None] = []
    for at in range(0, len(STREAM), size):
        lines += splitter.feed(STREAM[at : at + size])
    assert lines + splitter.end() == LINES


@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_line_that_is_too_long_is_left_out_and_not_held(size: int) -> None:
    splitter = LineSplitter(b"\n", 4)
    empty = held_bytes(splitter)
    stream = b"abcd\nabcde\nab\n" + b"x" * 100 + b"\ncd\nabcdefghi"
    lines: list[bytes | None] = []
    for at in range(0, len(stream), size):
        lines += splitter.feed(stream[at : at + size])
        assert held_bytes(splitter) <= empty + 4 + size + 10, "numbers take some bytes more"
    assert lines + splitter.end() == [b"abcd", None, b"ab", None, b"cd", None]


def test_a_stream_that_ends_with_a_line_has_no_other() -> None:
    splitter = LineSplitter(b"\n", 4)
    assert splitter.feed(b"a\n") == [b"a"]
    assert splitter.end() == []


def test_plain_lines() -> None:
    assert PlainLines().read(b"\xff\x00") == Record(b"\xff\x00")
    keyed = PlainLines(key_separator=b":", null_value=b"", headers=(("of", b"all"),))
    assert keyed.read(b"k:v:w") == Record(b"v:w", b"k", (("of", b"all"),))
    assert keyed.read(b":") == Record(None, None, (("of", b"all"),))
    full = PlainLines(key_separator=b"\t", header_separator=b"\t", null_value=b"NULL")
    assert full.read(b"a:1,b:NULL,a:x:y\tk\t") == Record(
        b"", b"k", (("a", b"1"), ("b", None), ("a", b"x:y"))
    )
    assert full.read(b"\tk\tNULL") == Record(None, b"k")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"k", "ends the headers"), (b"a:1\tk", "ends the key"), (b"a\tk\tv", "not name:value"),
        (b":1\tk\tv", "not name:value"), (b"\xff:1\tk\tv", "not UTF-8"),
    ],
)  # fmt: skip
def test_plain_lines_that_are_no_records(line: bytes, reason: str) -> None:
    with pytest.raises(BrokenLineError, match=reason):
        PlainLines(key_separator=b"\t", header_separator=b"\t").read(line)


def test_json_lines() -> None:
    line = {
        "key": "k", "value": {"base64": "/wA="}, "headers": [["a", None], ["b", "x"]],
        "partition": 3, "timestamp": 7, "offset": 9, "topic": "gone by",
    }  # fmt: skip
    assert JsonLines((("of", b"all"),)).read(json.dumps(line).encode()) == Record(
        b"\xff\x00", b"k", (("of", b"all"), ("a", None), ("b", b"x")), 3, 7
    )
    assert JsonLines().read(b'{"value": null, "headers": {"a": "1"}}') == Record(
        None, headers=(("a", b"1"),)
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "not JSON"), (b"\xff", "not JSON"), (b"{", "not JSON"), (b"[" * 100_000, "JSON"),
        (b"1" * 10_000, "JSON"), (b"[]", "an object|JSON object"), (b"{}", "value is missing"),
        (b'{"vaule": ""}', "no field 'vaule'"), (b'{"value": 1}', "value must be a string"),
        (b'{"value": {"base64": "?"}}', "not base64"),
        (b'{"value": {"base64": 1}}', "must be a string"),
        (rb'{"value": "\ud800"}', "surrogate"), (b'{"value": "", "partition": true}', "partition"),
        (b'{"value": "", "partition": -1}', "partition"),
        (b'{"value": "", "partition": 2147483648}', "partition"),
        (b'{"value": "", "timestamp": 1.5}', "timestamp"),
        (b'{"value": "", "headers": "ab"}', "headers"),
        (b'{"value": "", "headers": [["a"]]}', "headers"),
        (b'{"value": "", "headers": [[1, "a"]]}', "headers"),
        (b'{"value": "", "headers": {"a": 1}}', "header"),
        (rb'{"value": "", "headers": {"\ud800": "1"}}', "surrogate"),
    ],
)  # fmt: skip
def test_json_lines_that_are_no_records(line: bytes, reason: str) -> None:
    with pytest.raises(BrokenLineError, match=reason):
        JsonLines().read(line)


RECORD = ConsumerRecord("t", 1, 2, 3, b"k\xff", None, [("a", b"1"), ("b", None), ("a", b"")])


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("%t-%p@%o %T", b"t-1@2 3"), ("%k=%s|%K %S", b"k\xff=NULL|3 -1".replace(b"|3", b"|2")),
        (r"%h\n\t\x41%%\\", b"a=1,b=NULL,a=\n\tA%\\"), ("", b""), ("é", "é".encode()),
        (r"\\n%t", b"\\nt"),
    ],
)  # fmt: skip
def test_formats(written: str, read: bytes) -> None:
    assert read_format(written, b"NULL")(RECORD) == read


@pytest.mark.parametrize("written", ["%", "%x", "a%", r"\q", "\\", r"\x4", r"%t\x4g"])
def test_formats_that_mean_nothing(written: str) -> None:
    with pytest.raises(ValueError, match="is no"):
        read_format(written, b"")


@pytest.mark.parametrize("value", [b"", None, b"text", b"\xff\x00", "é\x1b[2J".encode()])
def test_what_is_consumed_as_json_can_be_produced(value: bytes | None) -> None:
    record = ConsumerRecord("t", 1, 2, 3, value, value, [("h", value), ("h", b"1")])
    line = json_line(record)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert b"\x1b" not in line
    assert JsonLines().read(line) == Record(value, value, (("h", value), ("h", b"1")), 1, 3)


@pytest.mark.parametrize("name", ["produce", "consume"])
def test_help_needs_neither_loop_nor_sdk(name: str) -> None:
    asking = f"""
import argparse, sys
from fencepost_client.commands.{name} import COMMAND
parser = argparse.ArgumentParser()
COMMAND.add_arguments(parser)
assert parser.format_help()
assert not {{"asyncio", "fencepost_client.types", "fencepost_client.errors"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", asking], check=True)


def test_options() -> None:
    assert beginning("beginning") == ("beginning", 0)
    assert beginning("12") == ("offset", 12)
    assert beginning("-3") == ("before", 3)
    assert beginning("s@99") == ("time", 99)
    assert header("a=b=c") == ("a", b"b=c")
    assert header("a") == ("a", None)
    assert header("a=") == ("a", b"")
    assert escaped(r"\t") == unescape(r"\t") == b"\t"
    for read, text in ((beginning, "s@"), (beginning, "+1"), (header, "=a"), (escaped, "")):
        with pytest.raises(argparse.ArgumentTypeError):
            read(text)

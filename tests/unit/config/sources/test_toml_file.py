"""TOML files, good ones and broken ones."""

from __future__ import annotations

from contextlib import suppress

import pytest
from fencepost_broker.config import SettingsError
from fencepost_broker.config.sources.properties import Entry
from fencepost_broker.config.sources.toml_file import read_toml
from hypothesis import given
from hypothesis import strategies as st


def test_tables_dots_and_quotes_make_names() -> None:
    text = """\
# a comment
fsync = "always"
num.partitions = 3
"max.connections" = 10
"max.connections.per.ip" = 5   # beside a name that it begins with

[log.retention]
ms = 5_000
bytes = -1

[log]
"cleanup.policy" = [
    "compact",
    "delete",
]
cleaner.min.cleanable.ratio = 0.25
preallocate = true
"""
    assert read_toml(text.encode(), "f") == [
        Entry("fsync", "always", 2),
        Entry("num.partitions", "3", 3),
        Entry("max.connections", "10", 4),
        Entry("max.connections.per.ip", "5", 5),
        Entry("log.retention.ms", "5000", 8),
        Entry("log.retention.bytes", "-1", 9),
        Entry("log.cleanup.policy", "compact,delete", 12),
        Entry("log.cleaner.min.cleanable.ratio", "0.25", 16),
        Entry("log.preallocate", "true", 17),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a = 1\na = 2\n", "f:2: "),
        ("a = 1\n\nb = \n", "f:3: "),
        ("[a\n", "f:1: "),
        ("a = 1\nb = 'x\n\n", "f:2: "),
        ("\xff".encode("latin-1"), "f:1: this is not UTF-8"),
        (
            '[log]\nretention.ms = 1\n[log.x]\n[other]\n"a.b" = 1\na.b = 2',
            "f:5: other.a.b is set twice",
        ),
        ("a = 1\nb = nan", "f:2: b: nan is not a finite number"),
        ("a = -inf", "f:1: a: -inf is not a finite number"),
        ("a = 1\nb = 1979-05-27", "f:2: b: a setting cannot be of type date"),
        ("a = [1, 2]", "f:1: a: a list can only contain strings"),
        ("a = " + "[" * 5000, "f: this is nested too deeply"),
        ("a." * 5000 + "a = 1", "f: this is nested too deeply"),
        ("x = 1\n[[a]]\nb = 1", "a: a list can only contain strings"),
    ],
)
def test_a_broken_file_is_refused_with_the_line(text: str | bytes, told: str) -> None:
    content = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(SettingsError) as caught:
        read_toml(content, "f")
    assert told in str(caught.value)
    assert str(caught.value).startswith("f")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(SettingsError):
        read_toml(text.encode("utf-8", "replace"), "f")

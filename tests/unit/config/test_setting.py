"""One setting: what it takes, in which form, and how it explains a refusal."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.config import AnySetting, Kind, Scope, Settings, TopicSettings
from fencepost_broker.config.setting import Setting, boolean, double, integer, long, strings
from fencepost_broker.config.table import Source, Table

ALL = [*Settings.settings.values(), *TopicSettings.settings.values()]


class Sample(Table):
    flag = boolean(True, "a flag")
    small_number = integer(5, "a number", at_least=1, at_most=10)
    large_number: Setting[int | None] = long(None, "a number, if there is one")
    ratio = double(0.5, "a ratio", at_least=0, at_most=1)
    words: Setting[tuple[str, ...]] = strings(("a",), "words", one_of=("a", "b", "c"))
    secret: Setting[str | None] = Setting(Kind.PASSWORD, None, "a secret")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("flag", "true", True),
        ("flag", " FALSE ", False),
        ("small.number", "+7", 7),
        ("small.number", " 10 ", 10),
        ("large.number", "-9223372036854775808", -(1 << 63)),
        ("ratio", "1", 1.0),
        ("ratio", ".25", 0.25),
        ("ratio", "1e-1", 0.1),
        ("words", "c, a", ("c", "a")),
        ("words", "", ()),
        ("secret", "x", "x"),
    ],
)
def test_texts_are_read(name: str, text: str, value: object) -> None:
    read = Sample.settings[name].parse(text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("flag", "yes", "neither true nor false"),
        ("flag", "", "neither true nor false"),
        ("small.number", "0", "too small"),
        ("small.number", "11", "too large"),
        ("small.number", "1_0", "not a whole number"),
        ("small.number", "٥", "not a whole number"),
        ("small.number", "5.0", "not a whole number"),
        ("large.number", "9223372036854775808", "too large"),
        ("ratio", "1.01", "too large"),
        ("ratio", "-0.1", "too small"),
        ("ratio", "nan", "not a number"),
        ("words", "a,,b", "one of its words is empty"),
        ("words", "a,b,a", "a is given twice"),
        ("words", "a,d", "d is not one of them"),
    ],
)
def test_texts_out_of_range_are_refused(name: str, text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Sample.settings[name].parse(text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("flag", 1),
        ("small.number", True),
        ("small.number", 5.0),
        ("small.number", None),
        ("ratio", False),
        ("words", ("a", 1)),
        ("words", {"a"}),
    ],
)
def test_values_of_another_type_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r"of type|needs a value"):
        Sample.settings[name].checked(value)


def test_values_that_python_code_would_hand_in_are_taken() -> None:
    assert Sample.ratio.checked(1) == 1.0
    assert isinstance(Sample.ratio.checked(1), float)
    assert Sample.words.checked(["b", "c"]) == ("b", "c")  # type: ignore[arg-type]
    assert Sample.large_number.checked(None) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (True, "true"),
        (7, "7"),
        (0.5, "0.5"),
        (0.0, "0.0"),
        (12345678.0, "1.2345678E7"),
        (0.00012, "1.2E-4"),
        (1e22, "1.0E22"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (("a", "b"), "a,b"),
        ((), ""),
    ],
)
def test_values_are_written_as_java_writes_them(value: Any, text: str | None) -> None:
    assert Sample.flag.format(value) == text


def test_a_ratio_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not a number"):
        Sample.ratio.checked(float("nan"))


def test_a_range_is_told_in_words() -> None:
    assert Sample.flag.allowed == "boolean"
    assert Sample.small_number.allowed == "int, 1 to 10"
    assert Sample.words.allowed == "list, any of a, b, c"
    assert Settings.node_id.allowed == "int, at least 0"
    assert Settings.listeners.allowed == "list, NAME://HOST:PORT each, not empty"


def test_a_password_is_not_shown() -> None:
    table = Sample().with_overrides({"secret": "hunter2"})
    assert table.secret == "hunter2"
    assert table.shown("secret") == "[hidden]"
    assert "hunter2" not in repr(table)
    with pytest.raises(Exception, match="hidden") as caught:
        Sample.checked("secret", 5, Source.__new__(Source, *table.source("secret")))
    assert "5" not in str(caught.value).partition(":")[0]


@pytest.mark.parametrize(
    "setting", ALL, ids=lambda setting: f"{setting.scope.value}:{setting.name}"
)
def test_every_setting_is_explained_and_its_default_is_allowed(setting: AnySetting) -> None:
    assert setting.help
    assert "\n" not in setting.help
    assert not setting.help.endswith(".")
    if setting.default is not None:
        assert setting.checked(setting.default) == setting.default
        assert setting.parse(setting.format(setting.default) or "") == setting.default
    assert not (setting.own and setting.ignored)
    assert bool(setting.because) == (setting.kafka_default != setting.default)


def test_names_and_scopes() -> None:
    assert Settings.socket_request_max_bytes.name == "socket.request.max.bytes"
    assert TopicSettings.retention_ms.scope is Scope.TOPIC
    assert Settings.message_max_bytes.scope is Scope.CLUSTER
    assert Settings.num_partitions.is_read_only
    assert repr(Settings.num_partitions) == "<setting num.partitions>"


def test_a_list_of_many_words_is_checked_in_one_pass() -> None:
    words = ",".join(str(number) for number in range(200_000))
    setting = strings((), "words")
    assert len(setting.parse(words)) == 200_000
    with pytest.raises(ValueError, match="199999 is given twice"):
        setting.parse(f"{words},199999")

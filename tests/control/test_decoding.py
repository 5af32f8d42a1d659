"""Requests as structs: where each field comes from, and what a wrong one is told."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from fencepost_broker.server.control.decoding import read_request
from fencepost_broker.server.control.openapi import document
from fencepost_broker.server.control.problems import Problem, ProblemError
from fencepost_broker.server.control.routes import ControlContext, Route
from msgspec import Meta, Struct


class Level(Enum):
    LOW = "low"
    HIGH = "high"


class Delay(Struct, tag="delay", kw_only=True, forbid_unknown_fields=True):
    delay_ms: int


class Drop(Struct, tag="drop-answer", kw_only=True, forbid_unknown_fields=True):
    times: int = 1


class Rule(Struct, kw_only=True, forbid_unknown_fields=True):
    name: str
    act: Delay | Drop
    apis: list[Literal["Produce", "Fetch"]] = []
    levels: dict[str, Level] = {}
    while_: Annotated[str | None, Meta(description="a state")] = None
    count: int = 0


class Named(Struct, rename={"while_": "while"}, forbid_unknown_fields=True):
    number: int
    word: str
    while_: int = 0


def do_something(_context: ControlContext, _asked: Any) -> Problem:
    raise AssertionError


POST = Route("POST", "/rules", do_something, "", request=Rule, response=Problem)
PUT = Route("PUT", "/rules/{name}/{count}", do_something, "", request=Rule)
GET = Route("GET", "/named/{number}", do_something, "", request=Named, response=Problem)


def refused(route: Route, body: bytes = b"", path: Any = None, query: Any = None) -> Problem:
    with pytest.raises(ProblemError) as error:
        read_request(route, path or {}, query or {}, body)
    assert error.value.problem.status == 400
    return error.value.problem


def test_fields_come_from_path_query_and_body() -> None:
    assert read_request(GET, {"number": "7"}, {"word": "x", "while": "3"}, b"") == Named(7, "x", 3)
    put = read_request(PUT, {"name": "12", "count": "3"}, {}, b'{"act": {"type": "drop-answer"}}')
    assert put == Rule(name="12", act=Drop(), count=3), "a name of digits is a text"


def test_a_field_in_two_places_is_refused() -> None:
    path = {"name": "a", "count": "1"}
    twice = refused(PUT, b'{"name": "b", "act": {"type": "drop-answer"}}', path)
    assert (twice.where, twice.detail) == ("body, $.name", "name is in the path already")
    assert refused(GET, path={"number": "1"}, query={"number": "2"}).where == "query, $.number"


@pytest.mark.parametrize(
    ("body", "where", "advice"),
    [
        (
            b'{"name": "a", "act": {"type": "drop-anser"}}', "body, $.act.type",
            "Did you mean drop-answer? There are: delay, drop-answer",
        ),
        (
            b'{"name": "a", "act": {"type": "delay", "delay_sm": 1}}', "body, $.act",
            "Did you mean delay_ms? There are: delay_ms",
        ),
        (
            b'{"nam": "a", "act": {"type": "drop-answer"}}', "body, $",
            "Did you mean name? There are: act, apis, count, levels, name, while_",
        ),
        (
            b'{"name": "a", "act": {"type": "drop-answer"}, "apis": ["Fetch", "Produc"]}',
            "body, $.apis[1]", "Did you mean Produce? There are: Fetch, Produce",
        ),
        (
            b'{"name": "a", "act": {"type": "drop-answer"}, "levels": {"x": "hihg"}}',
            "body, $.levels[...]", "Did you mean high? There are: high, low",
        ),
        (b'{"name": "a"}', "body, $", ""),
        (b'{"name": 1, "act": {"type": "drop-answer"}}', "body, $.name", ""),
    ],
)  # fmt: skip
def test_a_wrong_name_is_told_the_right_one(body: bytes, where: str, advice: str) -> None:
    problem = refused(POST, body)
    assert (problem.where, problem.advice) == (where, advice)


def test_the_description_says_where_fields_are() -> None:
    described = document([POST, PUT, GET])
    post, put = described["paths"]["/rules"]["post"], described["paths"]["/rules/{name}/{count}"]
    assert post["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/Rule")
    in_path = put["put"]["parameters"]
    assert [(each["name"], each["required"]) for each in in_path] == [
        ("name", True),
        ("count", True),
    ]
    body = put["put"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["required"] == ["act"]
    assert not {"name", "count"} & body["properties"].keys()
    assert {"Delay", "Drop"} <= described["components"]["schemas"].keys()
    told = {
        each["name"]: (each["in"], each["required"])
        for each in described["paths"]["/named/{number}"]["get"]["parameters"]
    }
    assert told == {"number": ("path", True), "word": ("query", True), "while": ("query", False)}

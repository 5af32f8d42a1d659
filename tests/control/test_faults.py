"""Fault rules by HTTP and by ``fencepost fault``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.blocking import Broker
from fencepost_broker.cli.main import main
from fencepost_broker.faults.rule import ACTS
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.control.harness import controlled
from tests.support.broker import Client
from tests.support.up import ClosedError, Wire
from tests.support.waiting import asked_until

METADATA_VERSION = 12
RULE = {"name": "lost", "match": {"api": "Metadata"}, "act": {"type": "hold"}}


@pytest.mark.asyncio
async def test_a_rule_is_added_fires_lets_go_and_is_removed() -> None:
    async with controlled() as it, Client(it.broker.bootstrap) as client:
        added = await it.ask("POST", "/v1/faults", RULE, expect=201)
        assert (added["name"], added["fired"], added["rule"]) == ("lost", 0, RULE)
        waiting = asyncio.ensure_future(it.ask("GET", "/v1/faults/lost/fired"))
        answer = asyncio.ensure_future(client.ask(MetadataRequest([]), METADATA_VERSION))
        assert (await waiting)["fired"] == 1
        [touched] = (await it.ask("GET", "/v1/faults/lost/requests"))["requests"]
        assert (touched["api"], touched["client_id"]) == ("Metadata", "test")

        async def is_held() -> bool:
            return bool((await it.ask("GET", "/v1/faults/lost"))["held"])

        await asked_until(is_held)
        assert await it.ask("POST", "/v1/faults/lost/release", {}) == {"released": 1}
        await answer
        await it.ask("DELETE", "/v1/faults/lost", expect=204)
        assert await it.ask("GET", "/v1/faults") == {"faults": []}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({**RULE, "match": {"api": "Metadat"}}, "did you mean Metadata?"),
        ({**RULE, "act": {"type": "hole"}}, "hold"),
        ({**RULE, "tmes": 1}, "times"),
        ({**RULE, "match": {"api": "Metadata", "where": ["topic[].name == t"]}}, "topics"),
    ],
)
async def test_a_rule_that_cannot_work_is_refused(rule: dict[str, Any], told: str) -> None:
    async with controlled() as it:
        problem = await it.ask("POST", "/v1/faults", rule, expect=400)
        assert told in json.dumps(problem)
        assert await it.ask("GET", "/v1/faults") == {"faults": []}


@pytest.mark.asyncio
async def test_a_plan_is_added_whole_or_not_at_all() -> None:
    async with controlled() as it:
        await it.ask("POST", "/v1/fault-plans", {"fault": [RULE, RULE]}, expect=400)
        assert await it.ask("GET", "/v1/faults") == {"faults": []}
        other = {**RULE, "name": "other", "after": "lost"}
        told = await it.ask("POST", "/v1/fault-plans", {"fault": [RULE, other]}, expect=201)
        assert [each["name"] for each in told["faults"]] == ["lost", "other"]
        await it.ask("DELETE", "/v1/faults", expect=204)
        assert await it.ask("GET", "/v1/faults") == {"faults": []}


@pytest.mark.asyncio
async def test_a_rule_that_does_not_fire_is_told() -> None:
    async with controlled() as it:
        await it.ask("POST", "/v1/faults", RULE, expect=201)
        problem = await it.ask("GET", "/v1/faults/lost/fired?timeout_ms=1", expect=408)
        assert "has fired 0 of 1 times" in problem["detail"]
        problem = await it.ask("GET", "/v1/faults/lots", expect=404)
        assert "lost" in problem["advice"]


# -- the command -----------------------------------------------------------------------------------


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(topics={"t": 4}, control=0, log_level="error") as running:
        yield running


def fault(broker: Broker, *words: str, code: int = 0) -> None:
    assert broker.control is not None
    assert main(["fault", words[0], "--control", broker.control, *words[1:]]) == code


def test_the_lines_of_a_day(broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    fault(broker, "add", "--name", "lost", "--api", "Metadata", "--times", "1", "drop-answer")
    fault(broker, "wait", "lost", "--timeout-s", "0", code=1)
    assert "fired 0 of 1 times" in capsys.readouterr().err
    with pytest.raises(ClosedError), Wire(broker.addresses[0].port) as wire:
        wire.ask(MetadataRequest([]), METADATA_VERSION)
    fault(broker, "wait", "lost")
    assert "fired 1 times, is over" in capsys.readouterr().out
    fault(broker, "log", "lost")
    assert f"Metadata v{METADATA_VERSION}" in capsys.readouterr().out
    fault(broker, "list", "--json")
    [row] = json.loads(capsys.readouterr().out)
    assert (row["name"], row["fired"]) == ("lost", 1)
    fault(broker, "remove", "lost")
    fault(broker, "list", "--json")
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["drop-answer"], {"act": {"type": "drop-answer"}, "match": {}}),
        (
            ["--topic", "t", "--partition", "3", "--where", "acks == 1", "--api", "Produce",
             "--probability", "0.5", "--may-stay-unfired",
             "error", "--code", "NOT_LEADER_OR_FOLLOWER", "--apply"],
            {
                "match": {"api": "Produce", "topic": "t", "partition": 3, "where": ["acks == 1"]},
                "probability": 0.5,
                "may_stay_unfired": True,
                "act": {"type": "error", "code": "NOT_LEADER_OR_FOLLOWER", "apply": True},
            },
        ),
        (
            ["--api", "Metadata", "change-answer", "--set", "brokers[].port=1",
             "--set", "brokers[].host=there"],
            {
                "match": {"api": "Metadata"},
                "act": {
                    "type": "change-answer",
                    "set": {"brokers[].port": 1, "brokers[].host": "there"},
                },
            },
        ),
        (
            ["--while", "transaction=Ongoing", "delay", "--ms", "5", "--what", "answer"],
            {"while": "transaction=Ongoing", "act": {"type": "delay", "ms": 5, "what": "answer"}},
        ),
    ],
)  # fmt: skip
def test_options_make_a_rule(
    broker: Broker, words: list[str], rule: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    fault(broker, "add", "--json", *words)
    made = json.loads(capsys.readouterr().out)["rule"]
    assert made | rule | {"match": rule.get("match", {}) or made.get("match", {})} == made | rule


def test_an_option_after_the_act_is_told_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["fault", "add", "--control", "9", "drop-answer", "--api", "Produce"])
    assert "--api has to stand before drop-answer" in capsys.readouterr().err


def test_every_act_is_a_word_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["fault", "add", "--help"])
    told = capsys.readouterr().out
    assert all(str(act.__struct_config__.tag) in told for act in ACTS)


PLAN = """
[[fault]]
name = "lost"
match = {api = "Metadata"}
act = {type = "drop-answer"}
times = 1
"""


def test_a_file_is_loaded(
    broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    fault(broker, "load", str(path))
    assert capsys.readouterr().out.startswith('lost: drop-answer {"api": "Metadata"} fired 0 times')
    path.write_text(PLAN.replace("times", "tims"))
    fault(broker, "load", str(path), code=2)
    assert "fault[0]: Object contains unknown field `tims`. Did you mean times?" in (
        capsys.readouterr().err
    )
    fault(broker, "load", str(tmp_path / "none.toml"), code=2)
    assert "none.toml: No such file" in capsys.readouterr().err
    path.write_text("[[fault")
    fault(broker, "load", str(path), code=2)
    assert "plan.toml: " in capsys.readouterr().err


def test_up_refuses_a_file_of_rules_that_cannot_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plan.toml"
    for plan, told in (
        (PLAN.replace("Metadata", "Metadat"), "did you mean Metadata?"),
        (PLAN.replace("drop-answer", "drop-anser"), "Did you mean drop-answer?"),
    ):
        path.write_text(plan)
        assert main(["up", "--port", "0", "--faults", str(path)]) == 2
        assert told in capsys.readouterr().err

"""`fencepost up --control`, and the commands that use the control port."""

from __future__ import annotations

import json
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.blocking import Broker
from fencepost_broker.cli.commands.requests import line_of
from fencepost_broker.cli.main import main
from fencepost_broker.config.values.units import read_duration
from fencepost_broker.operations import OPERATIONS
from fencepost_broker.server.control.client import path_of
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from tests.support.up import Wire
from tests.support.waiting import polled
from tests.wire.up_harness import COMMAND
from tests.wire.up_harness import broker as process_of_broker

DAY_MS = 24 * 3600 * 1000
TOKEN = "0123456789abcdef"


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(topics={"t": 1}, clock="manual", control=0, log_level="error") as running:
        yield running


def at(broker: Broker) -> str:
    assert broker.control is not None
    return broker.control


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    """What a command prints: to standard output, and to standard error if it fails."""
    assert main([*words]) == code
    output, errors = capsys.readouterr()
    if code:
        assert output == ""
        return errors
    return output


def test_the_clock_is_shown_and_advanced(
    broker: Broker, capsys: pytest.CaptureFixture[str]
) -> None:
    before = json.loads(told(capsys, "clock", "--control", at(broker), "--json"))
    now_ms = broker.clock.now_ms()
    assert before == {"now_ms": now_ms, "manual": True, "next_deadline_ms": None}
    assert "UTC, and it stands still" in told(
        capsys, "clock", "advance", "8d", "--control", at(broker)
    )
    assert broker.clock.now_ms() - before["now_ms"] == 8 * DAY_MS
    after = json.loads(told(capsys, "clock", "show", "--control", at(broker), "--json"))
    assert after["now_ms"] == broker.clock.now_ms()


def test_a_clock_without_a_duration(broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = told(capsys, "clock", "advance", "--control", at(broker), code=2)
    assert "fencepost clock advance 8d" in wrong
    with pytest.raises(SystemExit):
        main(["clock", "advance", "8", "--control", at(broker)])
    assert "write 8d, 1h30m" in capsys.readouterr().err
    assert "0, up to" in told(capsys, "clock", "advance", "0s", "--control", at(broker), code=1)


def test_the_clock_is_paused_set_back_and_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    with Broker(control=0, log_level="error") as running:
        where = ["--control", at(running), "--json"]
        paused = json.loads(told(capsys, "clock", "pause", *where))
        assert paused["manual"]
        back = json.loads(told(capsys, "clock", "jump", "-1h30m", *where))
        assert back["now_ms"] == paused["now_ms"] - 5_400_000
        on = json.loads(told(capsys, "clock", *where, "jump", "5s"))
        assert on["now_ms"] == back["now_ms"] + 5000
        assert not json.loads(told(capsys, "clock", "resume", *where))["manual"]
        assert "resume takes no DURATION" in told(capsys, "clock", "resume", "5s", *where, code=2)
        assert "clock jump 8d" in told(capsys, "clock", "jump", *where, code=2)
        assert "above 0" in told(capsys, "clock", "advance", "-5s", *where, code=1)


def test_snapshots_are_taken_restored_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    with Broker(topics={"t": 1}, control=0, log_level="error") as running:
        where = ["--control", at(running)]

        def has_topic(name: str) -> bool:
            return running.explain_partition(name, 0) is not None

        assert told(capsys, "snapshot", "take", "a b", *where).startswith("a b: ")
        taken = json.loads(told(capsys, "snapshot", "take", "a b", *where, "--json"))
        assert json.loads(told(capsys, "snapshot", "list", *where, "--json")) == [taken]
        running.create_topic("u")
        assert told(capsys, "snapshot", "restore", "a b", *where) == ""
        assert (has_topic("t"), has_topic("u")) == (True, False)
        running.create_topic("u")
        told(capsys, "snapshot", "reset", *where)
        assert not has_topic("u")
        wrong = told(capsys, "snapshot", "restore", "a", *where, code=1)
        assert "there is no snapshot a" in wrong
        told(capsys, "snapshot", "remove", "a b", *where)
        assert told(capsys, "snapshot", "list", *where) == ""


def test_an_operation_is_performed(broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--control", at(broker)]
    held = ["operation", "hold-markers", "--topic", "t", "--partition", "0", *where]
    assert json.loads(told(capsys, *held, "--json")) == {"type": "markers", "holds": 1}
    assert told(capsys, "operation", "release-markers", *where) == "markers: holds=0\n"
    asked = ["operation", "fence-producer", "--transactional-id", "p", *where]
    assert "'p'" in told(capsys, *asked, code=1)
    for wrong in (asked[:2], ["operation", "move-leader", "--topic", "t", *where], ["operation"]):
        with pytest.raises(SystemExit):
            main(wrong)


def test_each_field_of_an_operation_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    for name, operation in OPERATIONS.items():
        with pytest.raises(SystemExit):
            main(["operation", name, "--help"])
        shown = capsys.readouterr().out
        for field in operation.__struct_fields__:
            assert f"--{field.replace('_', '-')} " in shown


def test_requests_are_listed(broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["requests", "--control", at(broker)]) == 0
    output, errors = capsys.readouterr()
    assert (output, errors) == ("", "no requests: the broker keeps them from now on\n")
    assert json.loads(told(capsys, "requests", "--control", at(broker), "--json")) == []
    ask_for_a_topic_that_is_not_there(broker.bootstrap)
    capsys.readouterr()
    [line] = told(capsys, "requests", "--control", at(broker), "--last", "1").splitlines()
    assert " Metadata v12  UNKNOWN_TOPIC_OR_PARTITION " in line
    [request] = json.loads(
        told(capsys, "requests", "--control", at(broker), "--json", "--last", "1")
    )
    assert request["errors"] == {"UNKNOWN_TOPIC_OR_PARTITION": 1}


def ask_for_a_topic_that_is_not_there(bootstrap: str) -> None:
    with Wire(int(bootstrap.rpartition(":")[2])) as client:
        asked = [MetadataRequestTopic(name="none")]
        client.ask(MetadataRequest(asked, allow_auto_topic_creation=False), 12)


def test_a_line_for_each_end_of_a_request() -> None:
    request = {
        "at_ms": 0, "address": "127.0.0.1:5", "client_id": None, "api": "Fetch", "version": 4,
        "has_waited": False, "took_us": None, "errors": None, "dropped": "",
    }  # fmt: skip
    beginning = "1970-01-01 00:00:00.000  127.0.0.1:5 -  Fetch v4  "
    for change, end in (
        ({}, "is not answered"),
        ({"has_waited": True}, "waits"),
        ({"dropped": "it is cut"}, "CONNECTION CLOSED: it is cut"),
        ({"took_us": 1500}, "1.50 ms"),
        ({"took_us": 10, "errors": {"A": 1, "B": 2}}, "A B (2) 0.01 ms"),
    ):
        assert line_of({**request, **change}) == beginning + end


def test_followed_requests_come_as_they_are_answered(broker: Broker) -> None:
    process = subprocess.Popen(
        [*COMMAND[:-1], "requests", "--control", at(broker), "--follow", "--json"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        stdout = process.stdout
        assert stdout is not None

        def printed() -> list[Any]:
            ask_for_a_topic_that_is_not_there(broker.bootstrap)
            return select.select([stdout], [], [], 0)[0]

        polled(printed, "it prints nothing")
        assert json.loads(stdout.readline())["api"] == "Metadata"
    finally:
        process.kill()
        process.communicate()


def test_a_control_port_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    wrong = told(capsys, "clock", "--control", str(port), code=1)
    assert f"the control port at 127.0.0.1:{port} cannot be reached: Connection refused" in wrong
    with pytest.raises(SystemExit):
        main(["clock", "--control", "127.0.0.1:99999"])


def test_a_listener_is_no_control_port(broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = told(capsys, "clock", "--control", broker.bootstrap, code=1)
    assert "cannot be reached" in wrong


def test_a_token_comes_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    with Broker(control=0, control_token_file=file, log_level="error") as running:
        words = ["clock", "--control", at(running)]
        assert "this control port needs a token" in told(capsys, *words, code=1)
        told(capsys, *words, "--control-token-file", str(file))
        missing = told(capsys, *words, "--control-token-file", str(tmp_path / "none"), code=2)
        assert "No such file" in missing


@pytest.mark.parametrize(
    ("given", "ms"),
    [
        ("8d", 8 * DAY_MS), ("1h30m", 5_400_000), ("90s", 90_000), ("250ms", 250),
        ("1.5h", 5_400_000), ("1m30s500ms", 90_500), ("0s", 0),
    ],
)  # fmt: skip
def test_durations(given: str, ms: int) -> None:
    assert read_duration(given) == ms


@pytest.mark.parametrize("given", ["", "8", "d", "8 d", "-1d", "1d ", "1x", "1dd", "١d", "1.d"])
def test_what_is_no_duration(given: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        read_duration(given)


def test_names_in_paths_are_quoted() -> None:
    assert path_of("transactions", "a/b ?é", 7) == "/v1/transactions/a%2Fb%20%3F%C3%A9/7"


# -- fencepost up ---------------------------------------------------------------------------------


def test_up_tells_where_the_control_port_is(capsys: pytest.CaptureFixture[str]) -> None:
    with process_of_broker("--control", "127.0.0.1:0") as (_, ready):
        told(capsys, "clock", "advance", "8d", "--control", ready["control"])
    with process_of_broker() as (_, ready):
        assert ready["control"] is None


def test_up_refuses_what_cannot_work(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for words, code, reason in (
            (("--control", port), 3, "the port is in use already"),
            (("--control", "0.0.0.0:0"), 2, "requests need a token"),
            (("--control", "127.0.0.1"), 2, "neither PORT nor HOST:PORT"),
            (("--control", "0", "--control-token-file", str(tmp_path)), 2, "Is a directory"),
        ):
            done = subprocess.run(
                [*COMMAND, "--port", "0", *words], capture_output=True, text=True, check=False
            )
            assert (done.returncode, done.stdout) == (code, ""), done.stderr
            assert reason in done.stderr


def test_without_a_control_port_nothing_of_it_is_imported() -> None:
    code = """
import sys
from fencepost_broker.blocking import Broker
ours = {"aiohttp", "msgspec", "prometheus_client", "http.client", "fencepost_broker.server.control"}
with Broker():
    print(sorted(ours & set(sys.modules)))
with Broker(control=0):
    print(sorted(ours & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    without, with_one = done.stdout.splitlines()
    assert without == "[]"
    assert "'aiohttp'" in with_one
    assert "'prometheus_client'" not in with_one, "only a scrape needs it"


def test_the_commands_import_no_server() -> None:
    code = """
import sys
from fencepost_broker.cli.main import main
assert main(["clock", "--control", sys.argv[1]]) == 1
print(sorted({"aiohttp", "msgspec", "asyncio"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "127.0.0.1:1"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"

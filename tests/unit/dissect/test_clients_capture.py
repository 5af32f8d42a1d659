"""Choosing from a real capture, folding it, and a line for each of its messages.

``clients.pcapng`` was written by tshark on the loopback interface, while a Fencepost served
``fencepost produce``, kcat (librdkafka 2.0.2) as producer and consumer, ``fencepost produce
--transactional-id tx1`` and ``fencepost consume -g g``, all with the topic ``orders``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fencepost_protocol.dissect.command import main
from fencepost_protocol.dissect.node import Node, State
from fencepost_protocol.dissect.render import Style, text_lines

CAPTURE = str(Path(__file__).parent / "clients.pcapng")


def lines(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> list[str]:
    assert main([CAPTURE, "--no-color", *arguments]) == code
    return capsys.readouterr().out.splitlines()


def test_a_message_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(capsys, "--summary")
    assert len(found) == 84
    [request, response] = [line for line in found if " Produce v7 " in line]
    assert request.endswith("Produce v7 request 3 acks=-1 orders[1 70 B] (123 B)")
    assert re.search(r"Produce v7 response 3 after [\d.]+ ms orders\[1 base_offset=0\]", response)


def test_topics_that_are_ids_have_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(capsys, "--summary", "--api", "Produce")
    assert len(found) == 6
    assert sum("Produce v13 request" in line for line in found) == 2, "they name ids alone"
    assert all(" orders[" in line for line in found)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--api", "EndTxn"], ["EndTxn request", "EndTxn response"]),
        (["--api", "26", "--client", "rdkafka"], []),
        (["--client", "rdk*", "--api", "ListOffsets"],
         ["ListOffsets request", "ListOffsets response"] * 2),
        (["--transactional-id", "tx1"],
         [f"{api} {kind}" for api in ("InitProducerId", "Produce", "EndTxn")
          for kind in ("request", "response")]),
        (["--topic", "other"], []),
    ],
)  # fmt: skip
def test_filters_choose_exchanges(
    arguments: list[str], expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = lines(capsys, "--summary", *arguments)
    if not expected:
        assert found == ["nothing to show"]
        return
    assert [re.sub(r".* (\w+) v\d+ (\w+) \d+ .*", r"\1 \2", line) for line in found] == expected


def test_filters_choose_what_is_shown_byte_by_byte(capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(capsys, "--topic", "orders", "--api", "Produce", "--client", "rdkafka")
    assert sum(line.startswith("2026-") for line in found) == 2
    assert any(line.endswith('"hi"') for line in found), "the record's value"


def test_json_has_who_asked_and_what_about(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([CAPTURE, "--json", "--summary", "--api", "Produce", "--client", "rdkafka"]) == 0
    [request, response] = json.loads(capsys.readouterr().out)
    assert (request["kind"], response["kind"]) == ("request", "response")
    assert {each["client_id"] for each in (request, response)} == {"rdkafka"}
    assert request["topics"] == ["orders"]
    assert request["summary"] == "acks=-1 orders[1 70 B]"
    assert "tree" not in request


def test_long_arrays_are_folded(capsys: pytest.CaptureFixture[str]) -> None:
    folded, full = lines(capsys), lines(capsys, "--full")
    assert len(folded) < len(full) * 0.6
    assert "api_keys[4]" in "\n".join(folded)
    assert "api_keys[5]" not in "\n".join(folded)
    assert any(re.search(r"… 50 more +\(--full shows them\)", line) for line in folded)
    assert "api_keys[54]" in "\n".join(full)
    assert not any("--full" in line for line in full)


def test_what_is_broken_is_never_folded() -> None:
    array = Node("names", "group", "array of int8", 0, 20)
    array.children = [Node(f"names[{at}]", "field", "int8", at, 1, value=at) for at in range(20)]
    array.children[17].state = State.BROKEN
    shown = list(text_lines(array, Style(is_full=False)))
    assert [re.search(r"names\[(\d+)\]", line)[1] for line in shown if "names[" in line] == [  # type: ignore[index]
        "0", "1", "2", "3", "4", "17",
    ]  # fmt: skip
    assert any("… 14 more" in line for line in shown)


def test_a_filter_is_for_captures_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--api", "EndTxn", "00"]) == 2
    assert "choose from packet captures" in capsys.readouterr().err


def test_an_api_that_is_none_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([CAPTURE, "--api", "EndTx"]) == 2
    assert "--api EndTx: there is no such API; did you mean EndTxn?" in capsys.readouterr().err

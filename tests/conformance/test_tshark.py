"""A dissector that knows nothing of us reads a capture of our frames without complaint."""

from __future__ import annotations

import collections
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fencepost_protocol.framing import encode_request, encode_response
from fencepost_protocol.generated.index import APIS
from fencepost_protocol.schema import files

from tests.support.capture import Conversation, write_pcap
from tests.support.plausible_messages import PlausibleMaker
from tests.support.random_messages import seeded

pytestmark = pytest.mark.conformance

SEEDS = 3

FAULTS = {
    "AlterPartitionReassignments": "reads the compact topic names of version 0 as classic ones",
    "CreateDelegationToken": "reads the int32 length of a bytes field as int16",
    "CreatePartitions": "takes an assignment for one broker where there is an array of them",
    "CreateTopics": "reads an assignment's partition number but not the array behind it",
    "DeleteAcls": "leaves the filters of a response unread",
    "DeleteTopics": "leaves out the throttle time of a response",
    "DescribeDelegationToken": "reads the int32 length of a bytes field as int16",
    "DescribeGroups": "reads the int32 length of a bytes field as int16",
    "ElectLeaders": "leaves out the topic's name",
    "ExpireDelegationToken": "reads the int32 length of a bytes field as int16",
    "JoinGroup": "reads the int32 length of a bytes field as int16",
    "ListPartitionReassignments": "reads compact topic names as classic ones",
    "RenewDelegationToken": "reads the int32 length of a bytes field as int16",
    "SaslAuthenticate": "reads the int32 length of a bytes field as int16",
    "SyncGroup": "reads the int32 length of a bytes field as int16",
}
"""What tshark 4.0 gets wrong by itself: the same bytes are Apache Kafka's (test_golden_bytes)."""


def conversation(key: int, version: int, number: int) -> Conversation:
    """A request and its response, on a connection of their own."""
    name = APIS[key][0]
    made = Conversation(client_port=10_000 + number).open()
    request = plausible(f"{name}Request", version, number)
    response = plausible(f"{name}Response", version, number)
    made.send(bytes(encode_request(request, version, number, "client")), from_client=True)
    made.send(bytes(encode_response(response, version, number)), from_client=False)
    return made


def plausible(name: str, version: int, seed: int) -> Any:
    return PlausibleMaker(files.load(name), seeded(name, version, seed)).make(version)


def tshark(capture: Path, *arguments: str) -> str:
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed (Debian: apt-get install tshark)")
    done = subprocess.run(
        [program, "-r", str(capture), "-d", "tcp.port==9092,kafka", *arguments],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def dissect(capture: Path) -> list[list[str]]:
    """Per packet: ports, malformed mark, expert messages."""
    fields = ("tcp.port", "_ws.malformed", "_ws.expert.message")
    options = [part for field in fields for part in ("-e", field)]
    rows = tshark(capture, "-Y", "kafka", "-T", "fields", *options)
    return [row.split("\t") for row in rows.splitlines()]


def test_a_capture_of_our_frames_is_dissected_without_a_malformed_mark(tmp_path: Path) -> None:
    conversations: list[Conversation] = []
    labels: dict[str, tuple[str, int]] = {}
    for key, (name, low, high, *_) in APIS.items():
        for version in range(low, high + 1):
            for _ in range(SEEDS):
                number = len(conversations)
                labels[str(10_000 + number)] = (name, version)
                conversations.append(conversation(key, version, number))
    capture = tmp_path / "all.pcap"
    write_pcap(capture, conversations)
    clean: collections.Counter[str] = collections.Counter()
    complaints: list[str] = []
    for ports, malformed, expert in dissect(capture):
        port = next(port for port in ports.split(",") if port != "9092")
        name, version = labels[port]
        if "Unsupported" in expert or "Unknown" in expert:
            continue  # newer than this tshark
        if not malformed:
            clean[name] += 1
        elif name not in FAULTS:
            complaints.append(f"{name} v{version}: {expert}")
    assert complaints == []
    print(f"tshark dissected {clean.total()} frames of {len(clean)} APIs")
    assert {"Produce", "Fetch", "Metadata", "EndTxn", "TxnOffsetCommit", "JoinGroup"} <= set(clean)


def test_the_mark_would_be_seen(tmp_path: Path) -> None:
    frame = bytearray(encode_request(plausible("EndTxnRequest", 1, 0), 1, 0, "client"))
    frame[20] = 0x7F  # the transactional id's length
    broken = Conversation().open()
    broken.send(bytes(frame), from_client=True)
    capture = tmp_path / "broken.pcap"
    write_pcap(capture, [broken])
    assert any(malformed for _, malformed, _ in dissect(capture))

"""Our bytes are Apache Kafka's bytes, for every message and record in every version.

Random messages, the same for the same seed, go to Kafka's own generated classes in both
directions: Kafka encodes the message from JSON, and decodes our bytes to JSON. Set
FENCEPOST_TEST_GOLDEN_ROUNDS for more messages of each version than CI has time for.
"""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest
from fencepost_client.progress import Progress
from fencepost_protocol.apis import message_class
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnTopic
from fencepost_protocol.schema.model import Message

from tests.conformance.golden_peer import (
    GoldenPeer,
    PeerError,
    PeerUnavailableError,
    answer_parts,
    decode_question,
)
from tests.support.kafka_json import to_kafka_json
from tests.support.random_messages import MessageMaker, all_schemas, seeded

pytestmark = pytest.mark.conformance

ROUNDS = int(os.environ.get("FENCEPOST_TEST_GOLDEN_ROUNDS", "2000"))


@pytest.fixture(scope="module")
def peer() -> Iterator[GoldenPeer]:
    try:
        with GoldenPeer() as running:
            yield running
    except PeerUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def progress() -> Iterator[Progress]:
    """It is seen where pytest leaves standard error alone, as ``make golden`` asks it to."""
    versions = sum(len(list(schema.valid)) for schema in all_schemas())
    with Progress(versions, "versions of messages", sys.stderr) as shown:
        yield shown


@dataclass(frozen=True, slots=True)
class Expected:
    """One message, our bytes of it, and its JSON, as a text, too: most answers are the same one."""

    version: int
    message: Any
    encoded: bytearray
    json_object: dict[str, Any]
    json_text: str


@pytest.mark.parametrize("schema", all_schemas(), ids=lambda schema: schema.name)
def test_bytes_are_kafkas(peer: GoldenPeer, progress: Progress, schema: Message) -> None:
    expected: deque[Expected] = deque()

    def questions() -> Iterator[str]:
        for version in schema.valid:
            progress.begin(f"{schema.name} v{version}")
            maker = MessageMaker(schema, seeded(schema.name, version, 10), own_tags=False)
            for _ in range(ROUNDS):
                message = maker.make(version)
                out = bytearray()
                message.encode(version, out)
                json_object = to_kafka_json(schema, version, message)
                text = json.dumps(json_object, separators=(",", ":"), ensure_ascii=False)
                expected.append(Expected(version, message, out, json_object, text))
                yield f"encode\t{schema.name}\t{version}\t{text}"
                yield decode_question(schema.name, version, out)
            progress.advance()

    with closing(peer.ask(questions())) as answers:
        compare(answers, expected, schema)
    assert not expected
    progress.clear()


def compare(answers: Iterator[str], expected: deque[Expected], schema: Message) -> None:
    cls = message_class(schema.name)
    for encoded in answers:
        decoded = next(answers)
        wanted = expected.popleft()
        try:
            ours = wanted.encoded.hex()
            assert answer_parts(encoded) == [ours]
            encoded_again, json_text = answer_parts(decoded)
            assert encoded_again == ours
            if json_text != wanted.json_text:
                assert json.loads(json_text) == wanted.json_object
            again, _ = cls.decode(memoryview(wanted.encoded), wanted.version)
            assert again == wanted.message
        except (AssertionError, PeerError) as error:
            error.add_note(f"{schema.name} v{wanted.version}: {wanted.json_text[:2000]}")
            raise


def test_kafka_keeps_our_own_tag_without_minding_it(peer: GoldenPeer) -> None:
    message = EndTxnRequest("txn", 7, 1, True, topics=[EndTxnTopic("t", [0, 1])])
    out = bytearray()
    message.encode(3, out)
    encoded_again, json_object = peer.decode("EndTxnRequest", 3, out)
    assert encoded_again == out
    assert json_object == {
        "transactionalId": "txn", "producerId": 7, "producerEpoch": 1, "committed": True,
    }  # fmt: skip

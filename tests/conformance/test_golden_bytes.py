"""Our bytes are Apache Kafka's bytes, for every message and record in every version.

Random messages, the same for the same seed, go to Kafka's own generated classes in both
directions: Kafka encodes the message from JSON, and decodes our bytes to JSON. Set
FENCEPOST_TEST_GOLDEN_ROUNDS for more messages of each version than CI has time for.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from fencepost_protocol.apis import message_class
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnTopic
from fencepost_protocol.schema.model import Message

from tests.conformance.golden_peer import (
    GoldenPeer,
    PeerUnavailableError,
    answer_parts,
    decode_question,
    encode_question,
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


@pytest.mark.parametrize("schema", all_schemas(), ids=lambda schema: schema.name)
def test_bytes_are_kafkas(peer: GoldenPeer, schema: Message) -> None:
    expected: deque[tuple[int, bytes, dict[str, Any]]] = deque()

    def questions() -> Iterator[str]:
        for version in schema.valid:
            maker = MessageMaker(schema, seeded(schema.name, version, 10), own_tags=False)
            for _ in range(ROUNDS):
                message = maker.make(version)
                out = bytearray()
                message.encode(version, out)
                json_object = to_kafka_json(schema, version, message)
                expected.append((version, bytes(out), json_object))
                yield encode_question(schema.name, version, json_object)
                yield decode_question(schema.name, version, out)

    with closing(peer.ask(questions())) as answers:
        compare(answers, expected, schema)
    assert not expected


def compare(
    answers: Iterator[str], expected: deque[tuple[int, bytes, dict[str, Any]]], schema: Message
) -> None:
    for encoded in answers:
        decoded = next(answers)
        version, ours, json_object = expected.popleft()
        context = f"{schema.name} v{version}: {json.dumps(json_object)[:2000]}"
        assert answer_parts(encoded, context) == [ours.hex()], context
        encoded_again, json_text = answer_parts(decoded, context)
        assert encoded_again == ours.hex(), context
        assert json.loads(json_text) == json_object, context
        again, _ = message_class(schema.name).decode(memoryview(ours), version)
        assert to_kafka_json(schema, version, again) == json_object


def test_kafka_keeps_our_own_tag_without_minding_it(peer: GoldenPeer) -> None:
    message = EndTxnRequest("txn", 7, 1, True, topics=[EndTxnTopic("t", [0, 1])])
    out = bytearray()
    message.encode(3, out)
    encoded_again, json_object = peer.decode("EndTxnRequest", 3, out)
    assert encoded_again == out
    assert json_object == {
        "transactionalId": "txn", "producerId": 7, "producerEpoch": 1, "committed": True,
    }  # fmt: skip

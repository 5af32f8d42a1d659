"""The pipe to Kafka's codecs itself: order, refusals, and that it survives a caller that stops."""

from collections.abc import Iterator

import pytest

from tests.conformance.golden_peer import (
    GoldenPeer,
    JsonObject,
    PeerDiedError,
    PeerError,
    PeerUnavailableError,
    answer_parts,
    decode_question,
    encode_question,
)

pytestmark = pytest.mark.conformance

END_TXN = {"transactionalId": "a", "producerId": 7, "producerEpoch": 1, "committed": True}
END_TXN_V3 = bytes.fromhex("02 61 0000000000000007 0001 01 00")


@pytest.fixture(scope="module")
def peer() -> Iterator[GoldenPeer]:
    try:
        with GoldenPeer() as running:
            yield running
    except PeerUnavailableError as error:
        pytest.skip(str(error))


def test_encode_and_decode(peer: GoldenPeer) -> None:
    assert peer.encode("EndTxnRequest", 3, END_TXN) == END_TXN_V3
    assert peer.decode("EndTxnRequest", 3, END_TXN_V3) == (END_TXN_V3, END_TXN)


def test_every_message_can_be_named(peer: GoldenPeer) -> None:
    facts = {message.name: message for message in peer.messages()}
    assert facts["EndTxnRequest"].lowest_version == 0
    for name in ("RequestHeader", "EndTxnMarker", "OffsetCommitKey", "RegisterBrokerRecord"):
        assert name in facts


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("encode\tEndTxnRequest\t3\t{}", "unable to locate field 'transactionalId'"),
        ("encode\tEndTxnRequest\t3\t{", "Unexpected end-of-input"),
        ("encode\tEndTxnRequest\t99\t{}", "has versions 0-5, not 99"),
        ("encode\tNoSuchRequest\t0\t{}", "no message is called NoSuchRequest"),
        ("encode\tEndTxnRequest", "expected encode NAME VERSION JSON"),
        ("decode\tEndTxnRequest\t3\t0x", "illegal length|not a hexadecimal"),
        (f"decode\tEndTxnRequest\t3\t{END_TXN_V3.hex()}00", "ends after 14 of 15 bytes"),
        ("readbatch\t00", "no whole batch in 1 bytes"),
        ('batch\t{"codek":"gzip"}', "no such field: codek"),
        ("nonsense", "no such question: nonsense"),
    ],
)
def test_a_refusal_says_why_and_does_no_harm(peer: GoldenPeer, question: str, reason: str) -> None:
    (answer,) = peer.ask([question])
    with pytest.raises(PeerError, match=reason):
        answer_parts(answer)
    assert peer.encode("EndTxnRequest", 3, END_TXN) == END_TXN_V3


@pytest.mark.parametrize("count", [0, 1, 511, 512, 513, 5000])
def test_answers_come_in_order_and_in_full(peer: GoldenPeer, count: int) -> None:
    questions = (encode_question("EndTxnMarker", 0, {"coordinatorEpoch": i}) for i in range(count))
    assert list(peer.ask(questions)) == [f"ok\t{i:08x}" for i in range(count)]


def test_answers_larger_than_the_pipes(peer: GoldenPeer) -> None:
    payload = bytes(1_000_000)
    encoded = len(payload).to_bytes(4, "big") + payload
    question = decode_question("SaslAuthenticateRequest", 0, encoded)
    for answer in peer.ask(question for _ in range(5)):
        assert answer_parts(answer)[0] == encoded.hex()


def test_a_caller_may_stop_listening(peer: GoldenPeer) -> None:
    answers = peer.ask("errors" for _ in range(2000))
    assert next(answers).startswith("ok")
    with pytest.raises(RuntimeError, match="finish"):
        peer.encode("EndTxnRequest", 3, END_TXN)
    answers.close()
    assert peer.encode("EndTxnRequest", 3, END_TXN) == END_TXN_V3


def test_an_error_in_the_questions_is_the_callers(peer: GoldenPeer) -> None:
    def questions() -> Iterator[str]:
        yield from ["errors"] * 600
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        list(peer.ask(questions()))
    assert peer.encode("EndTxnRequest", 3, END_TXN) == END_TXN_V3


def test_the_end_of_the_process_is_told() -> None:
    with GoldenPeer(jvm_flags=["-XX:NoSuchFlag"]) as broken:  # noqa: SIM117
        with pytest.raises(PeerDiedError, match="NoSuchFlag"):
            broken.errors()


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_batch_comes_back(peer: GoldenPeer, codec: str) -> None:
    records: list[JsonObject] = [
        {"timestamp": 5, "key": b"k", "value": None, "headers": [("h", b"v"), ("n", None)]},
        {"timestamp": 7, "key": None, "value": b"x" * 500, "headers": []},
    ]
    header: dict[str, int | str | bool] = {
        "baseOffset": 10,
        "producerId": 4,
        "producerEpoch": 1,
        "baseSequence": 3,
        "transactional": True,
        "partitionLeaderEpoch": 2,
        "codec": codec,
    }
    data = peer.build_batch(records, **header)
    batch = peer.read_batch(data)
    assert batch["isValid"]
    assert {key: batch[key] for key in header} == header
    assert [{key: record[key] for key in records[0]} for record in batch["records"]] == records
    assert [record["offset"] for record in batch["records"]] == [10, 11]
    broken = bytearray(data)
    broken[-1] ^= 1
    assert not peer.read_batch(broken)["isValid"]


def test_a_marker(peer: GoldenPeer) -> None:
    marker = peer.build_marker(
        offset=5,
        timestamp=6,
        leader_epoch=7,
        producer_id=8,
        producer_epoch=9,
        commit=True,
        coordinator_epoch=3,
    )
    batch = peer.read_batch(marker)
    assert batch["control"]
    assert batch["records"][0]["controlType"] == "COMMIT"
    assert batch["records"][0]["value"] == bytes.fromhex("0000 00000003")


def test_record_batches_stand_in_the_json_in_full(peer: GoldenPeer) -> None:
    batch = peer.build_batch([{"value": b"x"}])
    partitions = [{"index": 0, "records": batch}, {"index": 1, "records": None}]
    request = {
        "transactionalId": None,
        "acks": -1,
        "timeoutMs": 3,
        "topicData": [{"name": "t", "partitionData": partitions}],
    }
    encoded = peer.encode("ProduceRequest", 9, request)
    encoded_again, read = peer.decode("ProduceRequest", 9, encoded)
    assert encoded_again == encoded
    assert peer.encode("ProduceRequest", 9, read) == encoded

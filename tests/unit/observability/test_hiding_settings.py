"""What brokers read of the metadata, and settings with passwords, are not shown by the tap."""

from __future__ import annotations

import pytest
from fencepost_broker.metadata.log.metadata_log import METADATA_TOPIC, METADATA_TOPIC_ID
from fencepost_broker.observability.tap.hiding import BEGINNING_BYTES, is_of_metadata
from fencepost_protocol.framing import encode_request, encode_response
from fencepost_protocol.generated.envelope import EnvelopeRequest
from fencepost_protocol.generated.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fencepost_protocol.generated.index import ApiKey

from tests.unit.observability.harness import shown

BROKER, TOPIC = 4, 2


@pytest.mark.parametrize("version", range(4, 19))
def test_fetches_of_the_metadata_are_known(version: int) -> None:
    for name, topic_id, is_hidden in (
        (METADATA_TOPIC, METADATA_TOPIC_ID, True),
        ("orders", bytes(range(16)), False),
    ):
        partition = PartitionData(0, 0, 0, 1, records=METADATA_TOPIC.encode())
        topics = [FetchableTopicResponse(name, topic_id, [partition])]
        frame = bytes(encode_response(FetchResponse(responses=topics), version, 7))[4:]
        assert is_of_metadata(ApiKey.FETCH, version, frame[:BEGINNING_BYTES]) is is_hidden


def test_snapshots_are_of_the_metadata() -> None:
    assert is_of_metadata(ApiKey.FETCH_SNAPSHOT, 0, b"")


@pytest.mark.parametrize("is_forwarded", [False, True])
@pytest.mark.parametrize(
    ("kind", "name", "is_hidden"),
    [
        (BROKER, "listener.name.l.plain.sasl.jaas.config", True),
        (BROKER, "ssl.key.password", True),
        (BROKER, "what.nobody.knows", True),
        (BROKER, "log.retention.ms", False),
        (TOPIC, "retention.ms", False),
    ],
)
def test_settings_with_passwords_are_not_shown(
    kind: int, name: str, *, is_hidden: bool, is_forwarded: bool
) -> None:
    resource = AlterConfigsResource(kind, "1", [AlterableConfig(name, 0, "to-be-seen")])
    frame = bytes(encode_request(IncrementalAlterConfigsRequest([resource]), 1, 3, "c"))[4:]
    if is_forwarded:
        frame = bytes(encode_request(EnvelopeRequest(frame, b"", b""), 0, 3, "c"))[4:]
    told = shown(memoryview(frame))
    assert len(told) == len(frame)
    assert (b"to-be-seen" in told) is not is_hidden

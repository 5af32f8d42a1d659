"""What tests of the controller's records and logs beside Apache Kafka share."""

from __future__ import annotations

import time
from typing import Any

from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    OpData,
)
from fencepost_protocol.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.conformance.controller_peer import ask


def payload_of(line: str) -> str:
    return line.split('"type":"')[1].split('"')[0] + line.split('"version":')[1].split(",")[0]


def type_of(record: MetadataRecord) -> str:
    words = record.message.NAME
    spelled = "".join(f"_{letter}" if letter.isupper() else letter for letter in words)
    return f"{spelled.strip('_').upper()}{record.version}"


_QUOTAS = tuple(
    AlterClientQuotasRequest(
        [
            AlterClientQuotasRequestEntryData(
                [AlterClientQuotasRequestEntityData("client-id", "c")], [change]
            )
        ]
    )
    for change in (
        OpData("producer_byte_rate", 1024.0),
        OpData("consumer_byte_rate", 2048.0),
        OpData("producer_byte_rate", remove=True),
    )
)

_USERS = (
    AlterUserScramCredentialsRequest(
        upsertions=[
            ScramCredentialUpsertion(name, 2, 8192, b"salt", b"salted") for name in ("alice", "bob")
        ]
    ),
    AlterUserScramCredentialsRequest([ScramCredentialDeletion("bob", 2)]),
)

ACCESS: tuple[Message, ...] = (*_QUOTAS, *_USERS)
"""Of client-id c one quota is left, and of the users alice."""


def quota_values(described: Any) -> dict[tuple[str, str | None], dict[str, float]]:
    """Quotas by the first part of their entity."""
    return {
        (entry.entity[0].entity_type, entry.entity[0].entity_name): {
            each.key: each.value for each in entry.values
        }
        for entry in described.entries
    }


def when_led(port: int) -> Any:
    """Metadata once all partitions have a leader; the broker serves a moment before that."""
    deadline = time.monotonic() + 60
    while True:
        metadata = ask(port, MetadataRequest(None), 12)
        led = [partition.leader_id for topic in metadata.topics for partition in topic.partitions]
        if (led and min(led) >= 0) or time.monotonic() > deadline:
            return metadata
        time.sleep(0.1)

"""Produce: append record batches to the logs of partitions that this broker leads.

Behaviour: a batch stays one slice of the received frame from the socket to the log, which patches
its offset in place. With acks 0 there is no answer, and an error closes the connection, because
that is the only way to report it. With one replica, acks 1 and all are the same; with followers,
acks all waits until the in-sync ones have the batch (:mod:`.delayed_produce`). If a topic demands
a flush (`flush.messages`; always, with `fsync=always`), the answer waits for it.

Version notes: 13 names topics by id (KIP-516); from 10 on a refusal names the leader (KIP-951); 8
reports errors per record (KIP-467).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.generated.produce import ProduceRequest
from fencepost_protocol.records.batch import (
    ATTRIBUTES_OFFSET,
    HEADER_SIZE,
    MAGIC,
    TRANSACTIONAL_FLAG,
)

from fencepost_broker.apis.produce.appending import refuse_unnamed
from fencepost_broker.apis.produce.carrying_out import carry_out
from fencepost_broker.apis.produce.repeated_partitions import each_once
from fencepost_broker.apis.request import Answer, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_MAGIC_AT: Final = 16
_ATTRIBUTES: Final = ATTRIBUTES_OFFSET + 1


def produce(context: BrokerContext, request: Request, message: ProduceRequest) -> Answer | None:
    """Answer Produce, versions 3 to 13."""
    topics = message.topic_data
    if len(topics) != 1 or len(topics[0].partition_data) != 1:
        message.topic_data = each_once(topics)
    if message.transactional_id is not None:
        from fencepost_broker.apis.produce.transactional import produce_in_transaction

        return produce_in_transaction(context, request, message)
    for data in message.topic_data:
        for entry in data.partition_data:
            records = entry.records
            if (
                records is not None
                and len(records) >= HEADER_SIZE
                and records[_ATTRIBUTES] & TRANSACTIONAL_FLAG
                and records[_MAGIC_AT] == MAGIC
            ):
                return refuse_unnamed(request, message)
    return carry_out(context, request, message, None)

"""Offsets are committed in a transaction that is never ended."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import (
    GROUPS,
    TOPIC,
    TRANSACTIONAL_ID,
    Connection,
    TransactionalProducer,
)

GROUP: Final = "readers"
_ADD, _COMMIT, _FETCH = 3, 4, 8
"""Versions of requests."""


async def _run(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        await connection.produce(b"order")
        await connection.find_coordinator(GROUP, GROUPS)
        producer = TransactionalProducer(connection, 1)
        await producer.start()
        commit = await _commit(connection, producer)
        tell(f"A program commits the group's offset in a transaction ({commit}), and dies.")
        fetched = await _fetch(connection)
        tell(f"The next member of the group asks for the offset, and gets {fetched}.")
        broker.hold_markers()
        broker.clock.advance(minutes=2)
        later = await _fetch(connection)
        tell(f"The transaction times out, but its marker does not come: {later}.")
        return {
            "commit": commit,
            "fetch": fetched,
            "fetch_after_time_out": later,
            "state": await connection.transaction_state(),
        }


async def _commit(connection: Connection, producer: TransactionalProducer) -> str:
    who = (TRANSACTIONAL_ID, producer.id, producer.epoch)
    await connection.ask(AddOffsetsToTxnRequest(*who, GROUP), _ADD)
    topics = [TxnOffsetCommitRequestTopic(TOPIC, [TxnOffsetCommitRequestPartition(0, 1)])]
    request = TxnOffsetCommitRequest(
        TRANSACTIONAL_ID, GROUP, producer.id, producer.epoch, topics=topics
    )
    answer = await connection.ask(request, _COMMIT)
    return ErrorCode(answer.topics[0].partitions[0].error_code).name


async def _fetch(connection: Connection) -> str:
    topics = [OffsetFetchRequestTopics(TOPIC, partition_indexes=[0])]
    groups = [OffsetFetchRequestGroup(GROUP, topics=topics)]
    answer = await connection.ask(OffsetFetchRequest(groups=groups, require_stable=True), _FETCH)
    return ErrorCode(answer.groups[0].topics[0].partitions[0].error_code).name


SCENARIO = Scenario(
    name="unstable-offset-commit",
    summary="UNSTABLE_OFFSET_COMMIT for as long as a transaction has no marker",
    seen="A group's members start, and read nothing; they ask for their offsets again and again.",
    clients="Consumers that ask for stable offsets (KIP-447): OffsetFetch from version 7.",
    remedy="End the transaction, or mend the way of its markers to __consumer_offsets.",
    issues=("redpanda-data/redpanda#6423",),
    run=_run,
)

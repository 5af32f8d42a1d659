"""What share-partition leaders ask of the share coordinators, as Kafka's messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import read_share_group_state as r
from fencepost_protocol.generated import write_share_group_state as w

from fencepost_broker.replication.share.share_partition import StateBatch, StateWrite
from fencepost_broker.replication.share.share_partitions import ReadState, SharePartitionKey, Then

if TYPE_CHECKING:
    from fencepost_protocol.apis import Message


class SharePersister:
    """Implements ``replication.share.share_partitions.Persister``."""

    def __init__(self, ask: Callable[[Message, Callable[[Any], None]], None]) -> None:
        """``ask`` finds the coordinator and repeats the request if necessary."""
        self._ask = ask

    def read(
        self,
        key: SharePartitionKey,
        leader_epoch: int,
        then: Callable[[ReadState | ErrorCode], None],
    ) -> None:
        """Return the state of a share partition, or the error."""
        asked = r.PartitionData(key.number, leader_epoch)
        topics = [r.ReadStateData(key.topic_id, [asked])]

        def answered(response: r.ReadShareGroupStateResponse) -> None:
            result = response.results[0].partitions[0]
            if result.error_code:
                then(ErrorCode(result.error_code))
                return
            batches = [
                StateBatch(e.first_offset, e.last_offset, e.delivery_state, e.delivery_count)
                for e in result.state_batches
            ]
            then(ReadState(result.state_epoch, result.start_offset, batches))

        self._ask(r.ReadShareGroupStateRequest(key.group_id, topics), answered)

    def write(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        write: StateWrite,
        then: Then,
    ) -> None:
        """Write changes of the state of a share partition."""
        data = w.PartitionData(
            key.number,
            state_epoch,
            leader_epoch,
            write.start_offset,
            write.delivery_complete_count,
            [w.StateBatch(*each) for each in write.batches],
        )
        topics = [w.WriteStateData(key.topic_id, [data])]

        def answered(response: w.WriteShareGroupStateResponse) -> None:
            then(ErrorCode(response.results[0].partitions[0].error_code))

        self._ask(w.WriteShareGroupStateRequest(key.group_id, topics), answered)

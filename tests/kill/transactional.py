"""A transactional producer by hand, request by request, which outlives its broker.

A request whose connection is lost is sent again as it was when the broker is back, as clients do;
whoever would rather begin anew says ``gives_up``. Old requests (AddPartitionsToTxn and
AddOffsetsToTxn, Produce 9 to 11, TxnOffsetCommit 3, EndTxn 3) and new ones (Produce 12,
TxnOffsetCommit 5, EndTxn 5) may be mixed within one transaction.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.up import PATIENCE_SECONDS, ClosedError, Wire

INPUT, OUTPUT = "in", "out"
BACK_OFF_SECONDS: Final = 0.005
AGAIN: Final = {
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNSTABLE_OFFSET_COMMIT,
}
FENCED: Final = {
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.INVALID_TXN_STATE,
    ErrorCode.PRODUCER_FENCED,
    ErrorCode.TRANSACTION_ABORTABLE,
}


class LostError(Exception):
    """The connection is gone, and whoever waits for an answer has given up."""


class FencedError(Exception):
    """This producer is told that its transaction, or it itself, is over."""


def patience(what: str) -> Callable[[], None]:
    """What whoever tries again calls in between: a short wait, until there is no hope."""
    deadline = time.monotonic() + PATIENCE_SECONDS

    def wait() -> None:
        assert time.monotonic() < deadline, f"it is no use: {what}"
        time.sleep(BACK_OFF_SECONDS)

    return wait


class Gate:
    """What all producers know of the broker: where it is, whether it is up, whether to go on."""

    def __init__(self) -> None:
        self.port = 0
        self.is_up = threading.Event()
        self.goes_on = threading.Event()
        self.is_closed = False


class Link:
    """A connection that is made again when it is lost."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.gives_up = False
        self.sent_again = 0
        """Requests that were not answered when the broker died, and were repeated to the next."""
        self._wire: Wire | None = None

    def ask(self, request: Message, version: int) -> Any:
        """The answer, whenever it comes."""
        lost = False
        wait = patience(request.NAME)
        while True:
            wire = None
            try:
                wire = self.wire()
                answer = wire.ask(request, version)
            except (ClosedError, ConnectionError):
                self.close()
                if self.gives_up:
                    raise LostError from None
                lost = lost or wire is not None
                wait()
            else:
                self.sent_again += lost
                return answer

    def wire(self) -> Wire:
        """The connection itself."""
        self.gate.is_up.wait()
        if self.gate.is_closed:
            raise LostError
        if self._wire is None:
            self._wire = Wire(self.gate.port)
        return self._wire

    def close(self) -> None:
        """Let go of the connection; the next request makes another."""
        if self._wire is not None:
            self._wire.socket.close()
            self._wire = None


class Transactional:
    """One transactional id, the group whose offsets go with it, and a link."""

    def __init__(self, link: Link, name: str, *, timeout_ms: int = 60_000) -> None:
        self.link = link
        self.name = name
        self.timeout_ms = timeout_ms
        self.id, self.epoch = -1, -1
        self.sequences: dict[int, int] = {}
        self.doing = ""
        """For whoever wonders why nothing goes on."""
        self.heard_loading = 0
        """Answers that the coordinator was still being loaded."""

    def initialize(self) -> None:
        """Become the one producer of this id."""
        request = InitProducerIdRequest(self.name, self.timeout_ms)
        answer = self._ask(request, 4, lambda told: [told.error_code])
        self._become(answer.producer_id, answer.producer_epoch)

    def ask_for_id_only(self) -> None:
        """Ask to become it, and do not wait for the answer."""
        self.link.wire().send_request(InitProducerIdRequest(self.name, self.timeout_ms), 4)

    def send(self, partition: int, values: Sequence[bytes], version: int) -> None:
        """Write to a partition of the output, having entered it where that is not implied."""
        if version < 12:
            topics = [AddPartitionsToTxnTopic(OUTPUT, [partition])]
            add = AddPartitionsToTxnRequest([], self.name, self.id, self.epoch, topics)
            self._ask(
                add,
                3,
                lambda told: [
                    each.partition_error_code
                    for topic in told.results_by_topic_v3_and_below
                    for each in topic.results_by_partition
                ],
            )
        sequence = self.sequences.get(partition, 0)
        batch = build_batch(
            None,
            values,
            # As of today: producers whose records are a day old are forgotten at a start.
            int(time.time() * 1000),
            producer_id=self.id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            transactional=True,
        )
        data = TopicProduceData(OUTPUT, partition_data=[PartitionProduceData(partition, batch)])
        self._ask(
            ProduceRequest(self.name, -1, 30_000, [data]),
            version,
            lambda told: [told.responses[0].partition_responses[0].error_code],
        )
        self.sequences[partition] = sequence + len(values)

    def send_offset(self, partition: int, offset: int, *, new: bool) -> None:
        """Say how far the input is read, as part of the transaction. The group has its name."""
        if not new:
            add = AddOffsetsToTxnRequest(self.name, self.id, self.epoch, self.name)
            self._ask(add, 3, lambda told: [told.error_code])
        read = TxnOffsetCommitRequestTopic(
            INPUT, [TxnOffsetCommitRequestPartition(partition, offset)]
        )
        commit = TxnOffsetCommitRequest(
            self.name, self.name, self.id, self.epoch, -1, "", None, [read]
        )
        self._ask(commit, 5 if new else 3, lambda told: [told.topics[0].partitions[0].error_code])

    def end(self, *, commits: bool, new: bool) -> None:
        """Commit, or abort; under the new protocol the next transaction has another epoch."""
        answer = self._ask(self.ending(commits=commits), 5 if new else 3, _one_code)
        if new:
            self._become(answer.producer_id, answer.producer_epoch)

    def ending(self, *, commits: bool) -> EndTxnRequest:
        """The request."""
        return EndTxnRequest(self.name, self.id, self.epoch, commits)

    def hears_of_end(self, who: tuple[int, int], *, commits: bool, new: bool) -> ErrorCode:
        """What a producer with this id and epoch hears that wants to end a transaction."""
        request = EndTxnRequest(self.name, *who, commits)
        wait = patience(f"{self.name} ends a transaction")
        while True:
            code = ErrorCode(self.link.ask(request, 5 if new else 3).error_code)
            if code not in AGAIN:
                return code
            wait()

    def state(self) -> str:
        """As the coordinator tells it; empty when it does not know the id."""
        answer = self._ask(
            DescribeTransactionsRequest([self.name]),
            0,
            lambda told: [
                each.error_code
                for each in told.transaction_states
                if each.error_code != ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
            ],
        )
        return str(answer.transaction_states[0].transaction_state)

    def wait_for(self, *states: str) -> None:
        """Until the coordinator tells one of these states."""
        wait = patience(f"{self.name} in one of {states}")
        while self.state() not in states:
            self.doing = f"waiting for {states}"
            wait()

    def committed(self, partition: int) -> int:
        """How far the group has read, once that is stable; 0 when it never has."""
        topics = [OffsetFetchRequestTopic(INPUT, [partition])]
        request = OffsetFetchRequest(self.name, topics, require_stable=True)
        answer = self._ask(
            request,
            7,
            lambda told: [
                told.error_code,
                *(each.error_code for topic in told.topics for each in topic.partitions),
            ],
        )
        return max(int(answer.topics[0].partitions[0].committed_offset), 0)

    def _become(self, producer_id: int, epoch: int) -> None:
        self.id, self.epoch = producer_id, epoch
        self.sequences.clear()

    def _ask(self, request: Message, version: int, codes: Callable[[Any], Iterable[int]]) -> Any:
        """The answer once it is neither an error nor "come again"."""
        wait = patience(f"{self.name}: {request!r}")
        while True:
            self.doing = f"{request.NAME} {version}"
            answer = self.link.ask(request, version)
            told = {ErrorCode(code) for code in codes(answer)} - {ErrorCode.NONE}
            if not told:
                return answer
            self.heard_loading += ErrorCode.COORDINATOR_LOAD_IN_PROGRESS in told
            if told <= AGAIN:
                self.doing += f": {', '.join(each.name for each in told)}"
                wait()
            elif told <= FENCED:
                raise FencedError(f"{self.doing}: {', '.join(each.name for each in told)}")
            else:
                raise AssertionError(f"{self.name}: {request!r} v{version}: {answer!r}")


def _one_code(told: Any) -> list[int]:
    return [told.error_code]


def committed_offset(gate: Gate, group: str, partition: int) -> int:
    """How far a group has read, asked on a connection of its own."""
    link = Link(gate)
    try:
        return Transactional(link, group).committed(partition)
    finally:
        link.close()

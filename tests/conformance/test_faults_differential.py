"""Several faults in one request: Apache Kafka and our broker find the same one first.

Every API has one good request and a list of faults. It is asked with each fault and with each pair
of them; the codes of the answer, and the state that the transaction is left in, are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from itertools import combinations
from typing import Any

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

from tests.conformance.fault_cases import APIS, GROUP, NAME, Asked, Fault, Known
from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError
from tests.support.up import ClosedError, Up, Wire
from tests.support.waiting import polled

pytestmark = pytest.mark.conformance

SOON = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
}
STEADY = {"transaction.park.enable": "false", "group.initial.rebalance.delay.ms": "0"}
NOT_THERE_YET = {"UNKNOWN_TOPIC_OR_PARTITION", "NOT_LEADER_OR_FOLLOWER"}


@pytest.fixture(scope="module")
def kafka() -> Iterator[ApacheKafka]:
    try:
        with ApacheKafka() as running:
            yield running
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


def test_the_same_fault_is_found_first(kafka: ApacheKafka) -> None:
    given = [word for each in STEADY.items() for word in ("-c", "=".join(each))]
    with Up(*given) as broker:
        ours = answers_of(broker.port)
        broker.assert_healthy()
    theirs = answers_of(kafka.port)
    assert len(ours) > 400
    wrong = [f"{each}: {ours[each]}, Kafka {theirs[each]}" for each in ours]
    wrong = [line for each, line in zip(ours, wrong, strict=True) if ours[each] != theirs[each]]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(ours)} differ:", *wrong])


def answers_of(port: int) -> dict[str, Any]:
    peer = Peer(port)
    try:
        return dict(peer.answers())
    finally:
        peer.close()


class Peer:
    """One of the two, with a topic, and a producer that begins anew before each request."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._wire = Wire(port)
        self._wire.create("t", 1)
        for name, kind in ((GROUP, 0), (NAME, 1)):
            self._until(FindCoordinatorRequest(name, kind), 3)
        latest = ListOffsetsTopic("t", [ListOffsetsPartition(0, -1, -1)])
        asked = ListOffsetsRequest(-1, 0, [latest])
        polled(lambda: NOT_THERE_YET.isdisjoint(codes(self._wire.ask(asked, 7))))

    def close(self) -> None:
        """Closes the connection."""
        self._wire.socket.close()

    def answers(self) -> Iterator[tuple[str, Any]]:
        """What is said to each request, by what is wrong with it."""
        for title, (version, good, faults) in APIS.items():
            for several in [(), *((one,) for one in faults), *combinations(faults, 2)]:
                label = " and ".join([f"{title} v{version}", *(each.__name__ for each in several)])
                yield label, self._answer(version, good, several)

    def _answer(self, version: int, good: Callable[[Known], Any], faults: tuple[Fault, ...]) -> Any:
        told = self._until(InitProducerIdRequest(NAME, 60_000), 5)
        asked = Asked(good(Known(told.producer_id, told.producer_epoch)))
        for fault in faults:
            fault(asked)
        if asked.adds_offsets:
            adds = AddOffsetsToTxnRequest(NAME, told.producer_id, told.producer_epoch, GROUP)
            assert not self._until(adds, 3).error_code
        try:
            answer = list(codes(self._wire.ask(asked.request, version)))
        except ClosedError:
            self.close()
            self._wire = Wire(self._port)
            return "closed"
        [state] = self._wire.ask(DescribeTransactionsRequest([NAME]), 0).transaction_states
        return answer, state.transaction_state == "Ongoing"

    def _until(self, request: Any, version: int) -> Any:
        def told() -> Any:
            answer = self._wire.ask(request, version)
            return None if answer.error_code in SOON else answer

        return polled(told)


def codes(answer: Any) -> Iterator[str]:
    """All error codes of an answer, in its order."""
    for field in fields(answer):
        value = getattr(answer, field.name)
        if field.name.endswith("error_code"):
            yield ErrorCode(value).name
        for each in value if isinstance(value, list) else [value]:
            if is_dataclass(each):
                yield from codes(each)

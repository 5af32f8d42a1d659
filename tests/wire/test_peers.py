"""Commands find leaders and coordinators in a cluster; brokers that are scripted stand for it."""

from __future__ import annotations

import json
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self

import pytest
from fencepost_broker.cli.main import main
from fencepost_protocol.apis import request_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import SIZE_BYTES, encode_response, read_request_head
from fencepost_protocol.generated.api_versions import ApiVersion, ApiVersionsResponse
from fencepost_protocol.generated.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from fencepost_protocol.generated.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from fencepost_protocol.generated.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from fencepost_protocol.generated.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from fencepost_protocol.generated.list_transactions import TransactionState as Listed
from fencepost_protocol.generated.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

PRODUCER, EPOCH = 7, 3
LATEST = {
    ApiKey.METADATA: 12, ApiKey.FIND_COORDINATOR: 6, ApiKey.LIST_OFFSETS: 7,
    ApiKey.WRITE_TXN_MARKERS: 2, ApiKey.DESCRIBE_PRODUCERS: 0, ApiKey.DESCRIBE_TRANSACTIONS: 0,
    ApiKey.LIST_TRANSACTIONS: 2,
}  # fmt: skip


class Broker(socketserver.ThreadingTCPServer):
    """Answers what its cluster says, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self, cluster: Cluster, node_id: int) -> None:
        super().__init__(("127.0.0.1", 0), Connection)
        self.cluster = cluster
        self.node_id = node_id
        self.asked: list[tuple[Any, int]] = []

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class Connection(socketserver.StreamRequestHandler):
    server: Broker

    def handle(self) -> None:
        while head := self.rfile.read(SIZE_BYTES):
            frame = memoryview(self.rfile.read(struct.unpack(">i", head)[0]))
            key, version, correlation_id, _, start = read_request_head(frame)
            request, _ = request_class(key).decode(frame, version, start)
            answer = self.server.cluster.answer(self.server, request, version)
            self.wfile.write(encode_response(answer, version, correlation_id))


class Cluster:
    """Broker 1 leads t-0, broker 2 leads t-1 and coordinates ``x``, which has both open."""

    def __init__(self) -> None:
        self.versions = dict(LATEST)
        self.leaders = {0: 1, 1: 2}
        self.moves = 0
        """So many answers say that somebody else coordinates, or leads."""
        self.lies_about_broker_2 = False
        self.state = "Ongoing"
        self.answers: dict[type, Callable[[Broker, Any, int], Any]] = {
            MetadataRequest: self._metadata,
            FindCoordinatorRequest: self._coordinator,
            DescribeTransactionsRequest: self._transactions,
            ListTransactionsRequest: self._list,
            DescribeProducersRequest: self._producers,
            ListOffsetsRequest: self._offsets,
            WriteTxnMarkersRequest: self._markers,
        }
        self.brokers = [Broker(self, 1), Broker(self, 2)]

    def __enter__(self) -> Self:
        for broker in self.brokers:
            threading.Thread(target=broker.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for broker in self.brokers:
            broker.shutdown()
            broker.server_close()

    def answer(self, broker: Broker, request: Any, version: int) -> Any:
        answers = self.answers.get(type(request))
        if answers is None:
            ranges = [ApiVersion(key, 0, high) for key, high in self.versions.items()]
            return ApiVersionsResponse(api_keys=ranges)
        broker.asked.append((request, version))
        return answers(broker, request, version)

    def _metadata(self, broker: Broker, request: Any, version: int) -> MetadataResponse:
        ports = [each.port for each in self.brokers]
        if self.lies_about_broker_2:
            ports[1] = 1
        partitions = [
            MetadataResponsePartition(0, number, leader, replica_nodes=[1, 2])
            for number, leader in self.leaders.items()
        ]
        return MetadataResponse(
            brokers=[
                MetadataResponseBroker(number, "127.0.0.1", port)
                for number, port in enumerate(ports, 1)
            ],
            topics=[MetadataResponseTopic(0, "t", partitions=partitions)],
        )

    def _coordinator(self, broker: Broker, request: Any, version: int) -> FindCoordinatorResponse:
        assert request.key_type == 1
        node_id = 2
        if self.moves:
            self.moves -= 1
            node_id = 1
        if version < 4:
            return FindCoordinatorResponse(node_id=node_id)
        [name] = request.coordinator_keys
        return FindCoordinatorResponse(coordinators=[Coordinator(name, node_id)])

    def _transactions(
        self, broker: Broker, request: Any, version: int
    ) -> DescribeTransactionsResponse:
        if broker.node_id != 2:
            states = [TransactionState(ErrorCode.NOT_COORDINATOR, "x") for _ in
                      request.transactional_ids]  # fmt: skip
            return DescribeTransactionsResponse(transaction_states=states)
        topics = [TopicData("t", [0, 1])]
        states = [
            TransactionState(0, name, self.state, 60_000, 1000, PRODUCER, EPOCH, topics)
            for name in request.transactional_ids
        ]
        return DescribeTransactionsResponse(transaction_states=states)

    def _list(self, broker: Broker, request: Any, version: int) -> ListTransactionsResponse:
        rows = [Listed("x", PRODUCER, self.state)] if broker.node_id == 2 else []
        return ListTransactionsResponse(transaction_states=rows)

    def _producers(self, broker: Broker, request: Any, version: int) -> DescribeProducersResponse:
        def told(number: int) -> PartitionResponse:
            if self.leaders[number] != broker.node_id:
                return PartitionResponse(number, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            if self.moves:
                self.moves -= 1
                return PartitionResponse(number, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            state = ProducerState(PRODUCER, EPOCH, 0, 1000, -1, 10 + number)
            return PartitionResponse(number, active_producers=[state])

        return DescribeProducersResponse(
            topics=[
                TopicResponse(each.name, [told(number) for number in each.partition_indexes])
                for each in request.topics
            ]
        )

    def _offsets(self, broker: Broker, request: Any, version: int) -> ListOffsetsResponse:
        [topic] = request.topics
        [partition] = topic.partitions
        number = partition.partition_index
        assert self.leaders[number] == broker.node_id
        offset = 10 + number if request.isolation_level else 20
        told = ListOffsetsPartitionResponse(number, offset=offset)
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse("t", [told])])

    def _markers(self, broker: Broker, request: Any, version: int) -> WriteTxnMarkersResponse:
        code = ErrorCode.NONE
        if self.moves:
            self.moves -= 1
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        [marker] = request.markers
        number = marker.topics[0].partition_indexes[0]
        results = [WritableTxnMarkerPartitionResult(number, code)]
        topic = WritableTxnMarkerTopicResult("t", results)
        return WriteTxnMarkersResponse([WritableTxnMarkerResult(marker.producer_id, [topic])])

    def asked(self, kind: type, node_id: int) -> list[tuple[Any, int]]:
        """What one broker was asked of a kind, with versions."""
        return [each for each in self.brokers[node_id - 1].asked if isinstance(each[0], kind)]


@contextmanager
def running() -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield stack.enter_context(Cluster())


class Shell:
    def __init__(self, cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
        self._bootstrap = f"127.0.0.1:{cluster.brokers[0].port}"
        self._capsys = capsys

    def __call__(self, *words: str, code: int = 0) -> Any:
        arguments = ["transactions", "--bootstrap", self._bootstrap, "--json", *words]
        assert main(arguments) == code
        told = self._capsys.readouterr()
        return json.loads(told.out) if code == 0 else told.err


def test_every_coordinator_lists_and_the_right_one_describes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with running() as cluster:
        run = Shell(cluster, capsys)
        [row] = run("list", "--longer-than", "5", "--pattern", "x")
        assert (row["transactional_id"], row["coordinator_id"]) == ("x", 2)
        for node_id in (1, 2):
            [(asked, version)] = cluster.asked(ListTransactionsRequest, node_id)
            assert (asked.duration_filter, asked.transactional_id_pattern, version) == (5, "x", 2)
        cluster.moves = 2
        [told] = run("describe", "x")
        assert told["coordinator_id"] == 2
        assert len(cluster.asked(DescribeTransactionsRequest, 1)) == 2, "asked until it was found"


def test_each_leader_is_asked_about_its_partitions(capsys: pytest.CaptureFixture[str]) -> None:
    with running() as cluster:
        run = Shell(cluster, capsys)
        told = run("explain", "x")
        assert [(each["leader_id"], each["last_stable_offset"]) for each in told["partitions"]] == [
            (1, 10), (2, 11),
        ]  # fmt: skip
        assert [each["start_offset"] for each in told["partitions"]] == [10, 11]
        assert told["not_told"], "this cluster is none of ours"
        assert told["markers"] is None
        assert told["ends_in_ms"] < 0, "by the clock of this machine"
        cluster.moves = 2
        [producer] = run("describe-producers", "--topic", "t", "--partition", "1")
        assert producer["start_offset"] == 11
        err = run("describe-producers", "--topic", "t", "--partition", "1", "--broker-id", "1",
                  "--timeout", "2", code=1)  # fmt: skip
        assert "NOT_LEADER_OR_FOLLOWER" in err, "it was the wrong one until patience was over"


def test_what_hangs_is_ended_at_its_leader(capsys: pytest.CaptureFixture[str]) -> None:
    with running() as cluster:
        run = Shell(cluster, capsys)
        assert run("find-hanging") == []
        cluster.state = "CompleteAbort"
        assert [each["partition"] for each in run("find-hanging")] == [0, 1]
        run("abort", "--topic", "t", "--partition", "1", "--start-offset", "11")
        [(asked, version)] = cluster.asked(WriteTxnMarkersRequest, 2)
        [marker] = asked.markers
        assert (marker.producer_id, marker.producer_epoch, marker.coordinator_epoch) == (
            PRODUCER, EPOCH, 0,
        )  # fmt: skip
        assert (marker.transaction_result, marker.transaction_version, version) == (False, 0, 2)
        assert cluster.asked(WriteTxnMarkersRequest, 1) == []
        cluster.moves = 1
        producer = ("--producer-id", "7", "--producer-epoch", "3", "--coordinator-epoch", "5")
        run("abort", "--topic", "t", "--partition", "0", *producer, "--force")
        (_, first), (asked, again) = cluster.asked(WriteTxnMarkersRequest, 1)
        assert (asked.markers[0].coordinator_epoch, first, again) == (5, 2, 2)


def test_old_brokers_are_asked_in_old_versions(capsys: pytest.CaptureFixture[str]) -> None:
    with running() as cluster:
        cluster.versions |= {
            ApiKey.FIND_COORDINATOR: 3, ApiKey.WRITE_TXN_MARKERS: 1, ApiKey.LIST_TRANSACTIONS: 0,
            ApiKey.METADATA: 5,
        }  # fmt: skip
        run = Shell(cluster, capsys)
        assert run("describe", "x")[0]["coordinator_id"] == 2
        run("abort", "--topic", "t", "--partition", "0", "--start-offset", "10", "--force")
        assert cluster.asked(WriteTxnMarkersRequest, 1)[0][1] == 1
        assert len(run("list")) == 1
        assert "too old: filtering" in run("list", "--longer-than", "5", code=1)
        assert "too old: filtering" in run("list", "--pattern", "x", code=1)
        del cluster.versions[ApiKey.DESCRIBE_TRANSACTIONS]
        assert "does not support DescribeTransactions" in run("describe", "x", code=1)


def test_a_broker_that_is_not_where_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    with running() as cluster:
        cluster.lies_about_broker_2 = True
        err = Shell(cluster, capsys)("describe", "x", "--timeout", "2", code=1)
        assert "127.0.0.1:1: connection refused" in err
        assert "broker 2 advertises this address: see its advertised.listeners" in err


def test_a_partition_without_a_leader(capsys: pytest.CaptureFixture[str]) -> None:
    with running() as cluster:
        cluster.leaders[1] = -1
        run = Shell(cluster, capsys)
        err = run("explain", "--partition", "t:1", "--timeout", "2", code=1)
        assert "t-1 has no leader at present" in err
        run("find-hanging")  # goes by what has one

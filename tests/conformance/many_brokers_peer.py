"""Scripts of transactional requests, played to three brokers: each request to the one it is for.

The commands are those of ``transaction_peer.py``, and more. The ids ``a``, ``b``, ``c`` are
coordinated by brokers 1, 2, 3, and ``d`` by 1 in a partition that can be held, as ``u`` can; the
groups ``e``, ``g``, ``k`` by 1, 2, 3. The topics ``t`` and ``u`` are the script's own. ``at=2``
asks that broker, whatever it is to the request.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from typing import Any

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.describe_producers import DescribeProducersRequest, TopicRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
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
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from fencepost_protocol.records.batch import BatchHeader, split_batches
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

from tests.conformance.placed_cluster import (
    GROUPS,
    NEVER_UP,
    TRANSACTIONS,
    PlacedCluster,
    Places,
    Where,
    name_in,
)
from tests.conformance.transaction_peer import Peer, codes, prefix_of
from tests.machine.coordinator.transaction.trace_player import partition_named, topics
from tests.support.waiting import asked_until

OF_A_SCRIPT: Mapping[str, Places] = {
    "t": ([2, 3], [3, 2], [1, 2]),
    "u": ([3, NEVER_UP], [3, NEVER_UP]),
}
PARTITION_OF: Mapping[str, Where] = {
    **{name: (TRANSACTIONS, number) for number, name in enumerate("abcd")},
    **{name: (GROUPS, number) for number, name in enumerate("egk")},
}
"""Where an id, or a group, is coordinated."""
TO_COORDINATOR = {"init", "add", "verify", "offsets", "end", "settle", "describe", "wait", "left"}
TO_PARTITION = {"send": 1, "read": 0, "ends": 0, "producers": 0, "mark": 0}
TO_GROUP = {"commit": 1, "committed": 0}
"""Commands, and which of their words says whom they are for."""
LATEST, EARLIEST = -1, -2
NOW_MS = int(time.time() * 1000)
"""Of records: a marker that comes a week behind them would begin another segment."""


class PeerOfMany(Peer):
    """Three brokers, and what producers know."""

    def __init__(self, cluster: PlacedCluster) -> None:
        super().__init__(cluster.any_broker)
        self.cluster = cluster

    async def outcomes(self, scripts: list[tuple[str, str]]) -> list[tuple[str, list[str]]]:
        """What each of the scripts led to."""
        told = []
        for title, script in scripts:
            self.prefix = prefix_of(title)
            places = {self._topic(name): places for name, places in OF_A_SCRIPT.items()}
            await self.cluster.create(places)
            told.append((title, await self.play(title, script)))
        return told

    async def carry_out(
        self, name: str, plain: list[str], options: dict[str, str], version: int
    ) -> str:
        """The outcome at the broker that is meant; names in it are those of the script."""
        meant = int(options["at"]) if "at" in options else self._home(name, plain)
        self.client = self.cluster.clients[meant]
        words = [
            self._topic(each) if re.fullmatch(r"[tu](-\d+)?", each) else each for each in plain
        ]
        try:
            told = await super().carry_out(name, words, options, version)
        except asyncio.IncompleteReadError:
            await self.client.disconnect()
            return "closed"
        return told.replace(f"{self.prefix}-", "")

    def _home(self, name: str, plain: list[str]) -> int:
        if name in TO_COORDINATOR:
            return self.cluster.leader_of(PARTITION_OF[plain[0]])
        word = TO_PARTITION.get(name, TO_GROUP.get(name))
        return 1 if word is None else self.cluster.leader_of(self._where(plain[word]))

    def _where(self, word: str) -> Where:
        """A partition that is named (as in the script, or in full), or that of an id or a group."""
        if re.fullmatch(r"[tu]-\d+", word):
            return partition_named(self._topic(word))
        return partition_named(word) if "-" in word else PARTITION_OF[word]

    def _topic(self, word: str) -> str:
        return f"{self.prefix}-{word}"

    def _id(self, name: str) -> str:
        return name_in(PARTITION_OF[name], f"{self.prefix}-{name}")

    # -- commands of Peer, where more is told ---------------------------------------------------

    async def _offsets(self, plain: list[str], options: dict[str, str], version: int) -> str:
        name, group = plain
        return await super()._offsets([name, self._id(group)], options, version)

    async def _send(self, plain: list[str], options: dict[str, str], version: int) -> str:
        name, partition = plain
        topic, number = partition_named(partition)
        producer_id, epoch = self._who(name, options)
        sequence = self.sequences.get((name, partition), 0)
        batch = build_batch(
            None, [b"x"], NOW_MS, producer_id=producer_id, producer_epoch=epoch,
            base_sequence=int(options.get("sequence", sequence)), transactional=True,
        )  # fmt: skip
        data = TopicProduceData(topic, partition_data=[PartitionProduceData(number, bytes(batch))])
        request = ProduceRequest(self._id(name), -1, 5000, [data])
        answer = await self.client.ask(request, 12 if version < 0 else version)
        told = answer.responses[0].partition_responses[0]
        code = ErrorCode(told.error_code)
        if not code:
            self.sequences[name, partition] = sequence + 1
        leader = told.current_leader
        leads = "" if leader is None else f" led by {leader.leader_id} in {leader.leader_epoch}"
        named = [each.node_id for each in answer.node_endpoints]
        where = f"at {told.base_offset} from {told.log_start_offset}"
        return f"{code.name} {where}{leads} {named}"

    async def _batch(self, plain: list[str], options: dict[str, str], version: int) -> str:
        """What a leader asks: that each id but the last enters partitions; is that one in them?"""
        names = [each for each in plain if each in PARTITION_OF]
        asked = [AddPartitionsToTxnTopic(*each) for each in topics(plain[len(names) :])]
        transactions = [
            AddPartitionsToTxnTransaction(
                self._id(name), *self._who(name, options), name == names[-1], asked
            )
            for name in names
        ]
        answer = await self.client.ask(AddPartitionsToTxnRequest(transactions), version)
        told = {each.transactional_id: each.topic_results for each in answer.results_by_transaction}
        found = [f"{name} {codes(told[self._id(name)])}" for name in names]
        return f"{ErrorCode(answer.error_code).name} {found}"

    # -- what others ask ------------------------------------------------------------------------

    async def _find(self, plain: list[str], options: dict[str, str], version: int) -> str:
        """Who coordinates an id and a group, as each broker says."""
        found = []
        for client in self.cluster.clients.values():
            for kind, name in ((1, plain[0]), (0, plain[1])):
                request = FindCoordinatorRequest("", kind, [self._id(name)])
                [told] = (await client.ask(request, 4)).coordinators
                found.append(f"{ErrorCode(told.error_code).name} {told.node_id}")
        return str(found)

    async def _commit(self, plain: list[str], options: dict[str, str], version: int) -> str:
        """An offset in a transaction."""
        name, group, offset = plain
        partitions = [TxnOffsetCommitRequestPartition(0, int(offset))]
        wanted = [TxnOffsetCommitRequestTopic(self._topic("t"), partitions)]
        request = TxnOffsetCommitRequest(
            self._id(name), self._id(group), *self._who(name, options), topics=wanted
        )
        answer = await self.client.ask(request, 5 if version < 0 else version)
        return ErrorCode(answer.topics[0].partitions[0].error_code).name

    async def _committed(self, plain: list[str], options: dict[str, str], version: int) -> str:
        """A group's offset, to those who read uncommitted ones and to those who do not."""
        told = []
        for stable in (False, True):
            wanted = [OffsetFetchRequestTopics(self._topic("t"), partition_indexes=[0])]
            groups = [OffsetFetchRequestGroup(self._id(plain[0]), topics=wanted)]
            request = OffsetFetchRequest(groups=groups, require_stable=stable)
            [group] = (await self.client.ask(request, 8)).groups
            rows = [
                f"{each.committed_offset} {ErrorCode(each.error_code).name}"
                for topic in group.topics
                for each in topic.partitions
            ]
            told.append(f"{ErrorCode(group.error_code).name} {rows}")
        return str(told)

    async def _mark(self, plain: list[str], options: dict[str, str], version: int) -> str:
        """A marker by hand, to a partition or to the one that a group is in."""
        word, name, outcome = plain
        topic, number = self._where(word)
        marker = WritableTxnMarker(
            *self._who(name, options), outcome == "commit",
            [WritableTxnMarkerTopic(topic, [number])], int(options.get("by", 0)),
            int(options.get("tv", 0)),
        )  # fmt: skip
        answer = await self.client.ask(WriteTxnMarkersRequest([marker]), 2)
        return ErrorCode(answer.markers[0].topics[0].partitions[0].error_code).name

    # -- what is seen ---------------------------------------------------------------------------

    async def _read(self, plain: list[str], options: dict[str, str], version: int) -> str:
        """All of a partition, down to the bytes of control records, by both isolation levels."""
        topic, number = partition_named(plain[0])
        told = []
        for level in (0, 1):
            request = FetchRequest(
                max_wait_ms=0, min_bytes=0, isolation_level=level,
                topics=[FetchTopic(topic, partitions=[
                    FetchPartition(number, partition_max_bytes=1 << 20)
                ])],
            )  # fmt: skip
            answer = await self.client.ask(request, 12)
            [data] = answer.responses[0].partitions
            aborted = [
                f"{self._letter(each.producer_id)} from {each.first_offset}"
                for each in data.aborted_transactions or []
            ]
            batches = [
                self._shown(header, batch)
                for header, batch in split_batches(data.records or b"", tolerate_partial=True)
            ]
            told.append(
                f"{ErrorCode(data.error_code).name} to {data.high_watermark}"
                f" stable to {data.last_stable_offset} aborted {aborted} {batches}"
            )
        return "\n    ".join(["", *told])

    def _shown(self, header: BatchHeader, batch: Any) -> str:
        told = (
            f"{header.base_offset} in {header.partition_leader_epoch} attributes"
            f" {header.attributes} of {self._letter(header.producer_id)}/{header.producer_epoch}"
            f" sequence {header.base_sequence}"
        )
        if not header.is_control:
            return told
        [record] = iter_records(batch)
        key, value = (bytes(each or b"").hex() for each in (record.key, record.value))
        return f"{told} {key} {value}"

    async def _ends(self, plain: list[str], options: dict[str, str], version: int) -> str:
        topic, number = partition_named(plain[0])
        told = []
        for level, timestamp in ((0, LATEST), (1, LATEST), (0, EARLIEST)):
            wanted = [ListOffsetsTopic(topic, [ListOffsetsPartition(number, -1, timestamp)])]
            answer = await self.client.ask(ListOffsetsRequest(-1, level, wanted), 8)
            [found] = answer.topics[0].partitions
            code = ErrorCode(found.error_code).name
            told.append(f"{code} {found.offset} in {found.leader_epoch}")
        return str(told)

    async def _producers(self, plain: list[str], options: dict[str, str], version: int) -> str:
        topic, number = partition_named(plain[0])
        request = DescribeProducersRequest([TopicRequest(topic, [number])])
        [found] = (await self.client.ask(request, 0)).topics[0].partitions
        producers = sorted(
            f"{self._letter(each.producer_id)}/{each.producer_epoch} {each.last_sequence}"
            f" by {each.coordinator_epoch} from {each.current_txn_start_offset}"
            for each in found.active_producers
        )
        return f"{ErrorCode(found.error_code).name} {producers}"

    # -- what is waited for and changed ---------------------------------------------------------

    async def _left(self, plain: list[str], options: dict[str, str], version: int) -> str:
        """Wait until no other partitions than these lack their marker, and tell of the ending."""
        name, *partitions = plain
        wanted = str([f"{topic}-{number}" for topic, number in map(self._where, partitions)])

        async def is_so() -> bool:
            return wanted in await self._describe([name], options, version)

        await asked_until(is_so)
        return await self._describe([name], options, version)

    async def _wait(self, plain: list[str], options: dict[str, str], version: int) -> str:
        """Wait for the end of a transaction that takes too long."""

        async def is_so() -> bool:
            return (await self._describe(plain, options, version)).startswith("Complete")

        await asked_until(is_so)
        return await self._describe(plain, options, version)

    async def _move(self, plain: list[str], options: dict[str, str], version: int) -> str:
        """Have another broker lead a partition, or coordinate a group's or an id's."""
        await self.cluster.move(self._where(plain[0]), int(options["to"]))
        return ""

    async def _hold(self, plain: list[str], options: dict[str, str], version: int) -> str:
        await self.cluster.hold(self._held_topic(plain[0]))
        return ""

    async def _release(self, plain: list[str], options: dict[str, str], version: int) -> str:
        await self.cluster.release(self._held_topic(plain[0]))
        return ""

    async def _version(self, plain: list[str], options: dict[str, str], version: int) -> str:
        await self.cluster.set_version(int(plain[0]))
        return ""

    def _held_topic(self, word: str) -> str:
        return PARTITION_OF[word][0] if word in PARTITION_OF else word

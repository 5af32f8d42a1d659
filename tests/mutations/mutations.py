"""The mutations: each takes one guard out of the broker."""

from __future__ import annotations

from typing import Final, NamedTuple

_BOTH: Final = ("transactions", "consume-transform-produce")
_LATE: Final = ("late brokers", *_BOTH)


class Mutation(NamedTuple):
    """A guard, and the change that takes it out."""

    guard: str
    file: str
    """In ``broker/fencepost_broker``."""
    old: str
    """What is in the file exactly once."""
    new: str
    programs: tuple[str, ...] = ("zombies",)
    """Those that may find it, in the order in which they are tried."""
    reason: str = ""
    """Why it is not found."""


_PRODUCERS: Final = "storage/log/producers.py"
_ENDING: Final = "coordinator/transaction/ending.py"
_ADDING: Final = "coordinator/transaction/adding.py"
_INITIALIZING: Final = "coordinator/transaction/initializing.py"
_LEADER: Final = "replication/leader.py"
_CLASSIC: Final = "coordinator/group/classic/group.py"

MUTATIONS: Final = (
    # -- producers in a log
    Mutation(
        "a batch of an older epoch",
        _PRODUCERS,
        "        if epoch < current:\n            return Refusal(",
        "        if False:\n            return Refusal(",
    ),
    Mutation(
        "the sequence after a batch",
        _PRODUCERS,
        "if base_sequence != (last_sequence + 1) & MAX_SEQUENCE:",
        "if False:",
    ),
    Mutation(
        "the first sequence of an epoch",
        _PRODUCERS,
        "if base_sequence and current != NO_PRODUCER_EPOCH:",
        "if False:",
    ),
    Mutation(
        "a batch that was sent twice",
        _PRODUCERS,
        "if batch[0] == last_sequence and batch[2] == last_offset_delta:",
        "if False:",
    ),
    Mutation(
        "a batch without a verified transaction",
        _PRODUCERS,
        "if verify and not ongoing and not _is_guarded(verification, guard):",
        "if False:",
        _LATE,
    ),
    Mutation(
        "a batch outside of the open transaction",
        _PRODUCERS,
        "if producer.transaction_start >= 0 and not transactional:",
        "if False:",
    ),
    Mutation(
        "a marker's epoch",
        _PRODUCERS,
        "        if epoch < current or (\n",
        "        if False and (\n",
    ),
    Mutation(
        "a repeated marker of version 2",
        _PRODUCERS,
        "transaction_version >= TV_2 and epoch == current and producer.transaction_start >= 0",
        "False",
    ),
    Mutation(
        "a marker's coordinator epoch",
        _PRODUCERS,
        "if producer.coordinator_epoch > coordinator_epoch:",
        "if False:",
    ),
    Mutation(
        "the entry of an aborted transaction",
        _PRODUCERS,
        "return AbortedEntry(producer_id, start, offset, stable)",
        "return None",
    ),
    Mutation(
        "a transaction that a batch opens",
        _PRODUCERS,
        "self.ongoing[first_offset] = producer_id",
        "pass",
    ),
    # -- reading
    Mutation(
        "the last stable offset of a read",
        "storage/log/state.py",
        "return self.last_stable_offset if bound",
        "return self.high_watermark if bound",
    ),
    Mutation(
        "the last stable offset stays at an open transaction",
        "storage/log/appending.py",
        "        if producers.ongoing:\n            log.last_stable_offset",
        "        if False:\n            log.last_stable_offset",
    ),
    Mutation(
        "the last stable offset of a replicated log stays at an open transaction",
        "storage/log/state.py",
        "if unstable is None or unstable >= high_watermark:",
        "if True:",
        ("transactions",),
    ),
    Mutation(
        "aborted transactions of a read",
        "storage/log/reading.py",
        "if entry.last_offset >= start_offset and entry.first_offset < upper_offset:",
        "if False:",
    ),
    Mutation(
        "the leader epoch of a fetch and of OffsetForLeaderEpoch",
        "replication/partition.py",
        "if believed in (_UNCHECKED, self.leader_epoch):",
        "if True:",
    ),
    # -- the coordinator of transactions
    Mutation(
        "EndTxn of a fenced producer",
        _ENDING,
        "if transaction.client_epoch != request.producer_epoch and not is_retry:",
        "if False:",
    ),
    Mutation(
        "EndTxn of another producer id",
        _ENDING,
        "if transaction.client_id != request.producer_id and not is_retry:",
        "if False:",
    ),
    Mutation(
        "EndTxn with the other outcome",
        _ENDING,
        "    if transaction.state is not outcome:",
        "    if False:",
    ),
    Mutation(
        "AddPartitionsToTxn of a fenced producer",
        _ADDING,
        "if transaction.client_epoch != command.producer_epoch or command",
        "if False and command",
    ),
    Mutation(
        "AddPartitionsToTxn while markers are written",
        _ADDING,
        "    if transaction.is_prepared:\n        # The ids",
        "    if False:\n        # The ids",
        ("zombies", *_BOTH),
    ),
    Mutation(
        "InitProducerId of an older epoch",
        _INITIALIZING,
        "    elif given == transaction.last_epoch:",
        "    elif True:",
    ),
    Mutation(
        "InitProducerId aborts an open transaction",
        _INITIALIZING,
        "    if transaction.state is State.ONGOING:",
        "    if False:",
    ),
    Mutation(
        "InitProducerId while markers are written",
        _INITIALIZING,
        "    if transaction.is_prepared:",
        "    if False:",
        _LATE,
    ),
    Mutation(
        "a new epoch for each producer",
        _INITIALIZING,
        "(transaction.logged.producer_id, epoch + 1), given",
        "(transaction.logged.producer_id, epoch), given",
    ),
    Mutation(
        "a block of producer ids is used once",
        "coordinator/transaction/producer_id_manager.py",
        "        self._next += 1\n",
        "        self._next += 0\n",
    ),
    Mutation(
        "blocks of producer ids do not overlap",
        "controller/producer_ids.py",
        "ProducerIdsRecord(request.broker_id, request.broker_epoch, start + BLOCK_SIZE)",
        "ProducerIdsRecord(request.broker_id, request.broker_epoch, start)",
        _BOTH,
    ),
    Mutation(
        "markers are sent again after a restart",
        "coordinator/transaction/markers.py",
        "        if not transaction.is_prepared:\n            continue",
        "        if True:\n            continue",
        _LATE,
    ),
    Mutation(
        "a marker is sent again after an error",
        "coordinator/transaction/markers.py",
        "    if not may_pass(error):\n        return False",
        "    if True:\n        return False",
        _LATE,
    ),
    Mutation(
        "a parked request is answered after the markers",
        "coordinator/transaction/parking.py",
        "return tuple([Resume(command) for command in parked]) if parked else ()",
        "return ()",
        ("zombies", *_BOTH),
    ),
    # -- groups
    Mutation(
        "the generation of a commit",
        _CLASSIC,
        "if refusal is ErrorCode.NONE and generation != self.generation:",
        "if False:",
    ),
    Mutation(
        "a replaced static member",
        _CLASSIC,
        "            if known != member_id:",
        "            if False:",
    ),
    Mutation(
        "a removed member",
        _CLASSIC,
        "return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID",
        "return ErrorCode.NONE",
    ),
    Mutation(
        "pending offsets are not told",
        "coordinator/group/offsets/fetch.py",
        "if stable and ctx.offsets.is_pending(group_id, topic, number):",
        "if False:",
    ),
    Mutation(
        "offsets of an aborted transaction",
        "coordinator/group/offsets/store.py",
        "before = self.find(group_id, *key) if committed else offset",
        "before = self.find(group_id, *key)",
    ),
    # -- replication
    Mutation(
        "the high watermark waits for the ISR",
        _LEADER,
        "        counted = self.partition.isr\n",
        "        counted = (self._node_id,)\n",
        _BOTH,
    ),
    Mutation(
        "the high watermark waits for anybody",
        _LEADER,
        "                lowest = follower.log_end_offset",
        "                pass",
        _BOTH,
    ),
    Mutation(
        "min.insync.replicas",
        _LEADER,
        "return len(self.partition.isr) < min(least, len(self.partition.replicas))",
        "return False",
        _BOTH,
    ),
    Mutation(
        "a follower joins when it has all that is committed",
        _LEADER,
        "            elif self._has_reached(follower) and _may_join",
        "            elif _may_join",
        _BOTH,
    ),
    Mutation(
        "Produce waits for the ISR",
        "apis/produce/delayed_produce.py",
        "if partition.log.high_watermark <= result.last_offset:",
        "if False:",
        _BOTH,
    ),
    Mutation(
        "a waiting Produce fails under another leader",
        "apis/produce/delayed_produce.py",
        "if not partition.leads or partition.leader_epoch != leader_epoch:",
        "if False:",
        _LATE,
    ),
    Mutation(
        "a follower cuts off what its leader has not",
        "replication/follower.py",
        "log.truncate_to(_common_end(log, diverging.epoch, diverging.end_offset), now_ms)",
        "log.truncate_to(log.log_end_offset, now_ms)",
        _LATE,
    ),
    Mutation(
        "a leader looks for logs that diverge",
        "apis/fetch/fetching.py",
        "        if wanted.entry.last_fetched_epoch >= 0:",
        "        if False:",
        _LATE,
    ),
    Mutation(
        "an answer belongs to the log's end at its request",
        "replication/follower.py",
        " or each.log.log_end_offset != asked.end_offset:",
        ":",
        _LATE,
        "another leader is another Followed, whose old answers are dropped earlier; no program"
        " cuts a log off while its leader stays",
    ),
    Mutation(
        "coordinators answer when followers have it",
        "coordinator/runtime/shard.py",
        "if not partition.is_plain and log.high_watermark < end:",
        "if False:",
        _BOTH,
    ),
    Mutation(
        "a proposal's ISR has its partition epoch",
        "controller/alter_partition.py",
        "if asked.partition_epoch < partition.partition_epoch:",
        "if False:",
        _LATE,
    ),
    Mutation(
        "the ISR of a broker that was away",
        "controller/alter_partition.py",
        "if each.broker_epoch not in {_UNCHECKED_EPOCH, broker.epoch}:",
        "if False:",
        _LATE,
    ),
    # -- all is in sync again
    Mutation(
        "a heartbeat without an answer is sent again",
        "controller/channel/broker_lifecycle.py",
        "        self._is_under_way = False\n        self._next_ms = now_ms + AGAIN_MS",
        "        self._next_ms = now_ms + AGAIN_MS",
        _BOTH,
    ),
    # -- the disk
    Mutation(
        "a flush syncs the file",
        "storage/log/upkeep.py",
        "        syncs.append(segment.open().sync_later())\n",
        "",
        ("transactions without power",),
    ),
    Mutation(
        "Produce waits for the sync",
        "apis/produce/appending.py",
        ">= log.flush_at_offset:\n        unflushed",
        "< 0:\n        unflushed",
        ("power cuts",),
    ),
    Mutation(
        "coordinators answer when it is synced",
        "coordinator/runtime/shard.py",
        "        if end >= log.flush_at_offset:",
        "        if False:",
        ("transactions without power",),
    ),
    Mutation(
        "nothing is appended after a failed sync",
        "storage/log/appending.py",
        "        if log.failure is not None:\n            raise log.failure\n",
        "",
        ("power cuts",),
    ),
    Mutation(
        "what a failed sync has left is written again",
        "storage/log/loading.py",
        "if recovery_point is not None and last_offset >= recovery_point:",
        "if False:",
        ("power cuts",),
    ),
)

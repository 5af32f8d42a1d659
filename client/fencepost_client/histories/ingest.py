"""Reads the operations of a history into columns; finds what one line and its past show."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from fencepost_client.histories.facts import (
    UNKNOWN,
    Begun,
    Client,
    Facts,
    GroupCommit,
    Session,
    State,
)
from fencepost_client.histories.findings import Finding, Kind, Report
from fencepost_client.histories.operations import HistoryError, Operation

NOT_IDEMPOTENT: Final = "its producer is not idempotent"
NOT_SAID: Final = Begun(0, range(0))
_OUTCOMES: Final = {"ok": State.COMMITTED, "fail": State.ABORTED, "info": State.UNCERTAIN}


class Ingest:
    """Takes one operation after the other."""

    def __init__(self, report: Report) -> None:
        self.facts = Facts()
        self.report = report
        self._owners: dict[str, list[Client]] = {}
        """The processes of each transactional id, the latest last."""

    def take_all(self, operations: Iterable[Operation]) -> Facts:
        """Take all operations, and call those uncertain that have no end."""
        facts = self.facts
        for operation in operations:
            facts.line += 1
            client = facts.client(operation.process)
            if operation.type == "invoke":
                self._begin(client, operation)
                continue
            begun = client.begun.pop(operation.id, None) if operation.id is not None else None
            if begun is None:
                self._take(client, operation, NOT_SAID)
            else:
                self._take(client, self._whole(client, begun[0], operation), begun[1])
        for client in facts.clients.values():
            self._give_up(client)
        return facts

    def _take(self, client: Client, operation: Operation, begun: Begun) -> None:
        match operation.op:
            case "poll":
                self._poll(client, operation)
            case "send":
                self._send(client, operation, begun)
            case "commit" | "abort":
                self._end(client, operation, begun)
            case "commit_offsets":
                self._commit_offsets(client, operation, begun)
            case "open":
                self._open(client, operation, begun)
            case "seek":
                self._seek(client, operation)
            case "assign":
                self._assign(client)
            case "crash":
                self._give_up(client)
                self._assign(client)

    def _begin(self, client: Client, operation: Operation) -> None:
        assert operation.id is not None
        if operation.id in client.begun:
            raise HistoryError(
                f"operation {self.facts.line}: process {client.name} has begun another operation "
                f"with id {operation.id}, and it has no end yet"
            )
        records = range(0)
        if operation.op == "commit":
            transaction = self.facts.transaction_of(operation.transaction)
            # A commit whose outcome is not known may be asked for again.
            if not self.facts.commit_line[transaction]:
                self.facts.commit_line[transaction] = self.facts.line
        elif operation.op == "send":
            # Readers may be given the records before the sender hears of them.
            records = self._records(client, operation)
        client.begun[operation.id] = operation, Begun(self.facts.line, records)

    def _whole(self, client: Client, begun: Operation, end: Operation) -> Operation:
        if begun.op != end.op:
            raise HistoryError(
                f"operation {self.facts.line}: id {end.id} of process {client.name} began as "
                f"{begun.op} and ends as {end.op}"
            )
        try:
            whole = begun.completed_by(end)
        except ValueError as error:
            raise HistoryError(f"operation {self.facts.line}: {error}") from error
        if whole.values != begun.values and begun.op == "send":
            raise HistoryError(f"operation {self.facts.line}: it began with other values")
        return whole

    def _give_up(self, client: Client) -> None:
        """The end of what has none is unknown."""
        for operation, begun in client.begun.values():
            operation.type = "info"
            self._take(client, operation, begun)
        client.begun.clear()

    # -- writers -------------------------------------------------------------------------------

    def _open(self, client: Client, operation: Operation, begun: Begun) -> None:
        if operation.type != "ok":
            return
        facts = self.facts
        client.read_committed = operation.isolation == "read_committed"
        client.idempotent = operation.idempotent
        client.acks = operation.acks
        client.transactional_id = operation.transactional_id
        client.opened_at = facts.line
        if operation.group:
            groups = facts.read_committed_groups
            groups[operation.group] = groups.get(operation.group, True) and client.read_committed
        if operation.transactional_id:
            owners = self._owners.setdefault(operation.transactional_id, [])
            for each in owners:
                # Of two that open at the same time, nobody knows which one was first.
                if each is not client and each.opened_at < (begun.line or facts.line):
                    each.fenced_at, each.fenced_by = facts.line, client.name
            owners[:] = [*(each for each in owners if not each.fenced_at), client]

    def _records(self, client: Client, operation: Operation) -> range:
        facts = self.facts
        partition = facts.partition_of(operation.topic, operation.partition)
        transaction = facts.transaction_of(operation.transaction)
        for value in operation.values:
            facts.add_record(partition, value, client, transaction)
        return range(len(facts.values) - len(operation.values), len(facts.values))

    def _send(self, client: Client, operation: Operation, begun: Begun) -> None:
        facts = self.facts
        records = begun.records if begun.line else self._records(client, operation)
        outcome = _OUTCOMES[operation.type]
        for record in records:
            facts.state[record] = outcome
        if operation.type != "ok":
            return
        self._check_fence(client, "send", operation, begun)
        known = [each for each in operation.offsets if each != UNKNOWN]
        if not known:
            return
        partition = facts.partition_of(operation.topic, operation.partition)
        for record, offset in zip(records, operation.offsets, strict=True):
            if offset != UNKNOWN:
                facts.place(record, offset)
        self._check_order(client, partition, known, begun.line or facts.line)

    def _check_order(
        self, client: Client, partition: int, offsets: list[int], begun_at: int
    ) -> None:
        name = self.facts.partitions[partition].name
        expected = "" if client.idempotent else NOT_IDEMPOTENT
        for before, after in pairwise(offsets):
            if after <= before:
                text = f"{client.name} sent to {name} in one send, and got {before} before {after}"
                self._found(Kind.NONMONOTONIC_SEND, text, expected=expected)
            elif after > before + 1:
                text = f"{client.name} sent to {name} in one send, and got {before} and {after}"
                self._found(
                    Kind.SKIPPED_SEND, text, expected="Kafka writes only a batch without gaps"
                )
        line, offset = client.sent.get(partition, (0, -1))
        if line < begun_at:
            client.sent[partition] = begun_at, offsets[-1]
            first, second = offset, offsets[0]
        else:
            first, second = offsets[-1], offset
        if first >= second:
            text = (
                f"{client.name} sent to {name} twice; the first send got offset {first}, and the "
                f"second one {second}"
            )
            self._found(Kind.NONMONOTONIC_SEND, text, expected=expected)

    def _check_fence(self, client: Client, what: str, operation: Operation, begun: Begun) -> None:
        if client.fenced_at and begun.line > client.fenced_at:
            where = f" to {operation.topic}-{operation.partition}" if operation.topic else ""
            self._found(
                Kind.FENCED_WRITE,
                f"{client.name} began a {what}{where} at line {begun.line}, and it succeeded; "
                f"{client.fenced_by} has had transactional id {client.transactional_id} since "
                f"line {client.fenced_at}",
                (
                    f"{client.name} opens with transactional id {client.transactional_id}",
                    f"{client.fenced_by} opens with the same id",
                    f"{client.name} begins a {what}{where}",
                    f"the {what} of {client.name} succeeds",
                ),
            )

    def _end(self, client: Client, operation: Operation, begun: Begun) -> None:
        facts = self.facts
        transaction = facts.transaction_of(operation.transaction)
        state = _OUTCOMES[operation.type]
        if operation.op == "abort":
            if operation.type != "ok":
                return
            state = State.ABORTED
        elif operation.type == "ok":
            self._check_fence(client, "commit", operation, begun)
        # What is certain stays; a commit can be asked for again, and be answered then.
        if facts.ends[transaction] in (State.NEVER, State.UNCERTAIN):
            facts.ends[transaction] = state

    def _commit_offsets(self, client: Client, operation: Operation, begun: Begun) -> None:
        if operation.type != "ok":
            return
        self._check_fence(client, "commit of offsets", operation, begun)
        facts = self.facts
        partition = facts.partition_of(operation.topic, operation.partition)
        transaction = facts.transaction_of(operation.transaction)
        facts.commits.append(GroupCommit(operation.group, partition, operation.offset, transaction))

    # -- readers -------------------------------------------------------------------------------

    def _poll(self, client: Client, operation: Operation) -> None:
        if operation.type != "ok":
            return
        facts = self.facts
        partition = facts.partition_of(operation.topic, operation.partition)
        self._check_watermarks(client, partition, operation)
        offsets = operation.offsets
        if not offsets:
            return
        session = client.sessions.get(partition)
        if session is None:
            session = self._session(client, partition, client.seeks.get(partition, offsets[0]))
        log, values, see = facts.partitions[partition].log, facts.values, facts.see
        given = session.offsets
        last = given[-1] if given else session.first - 1
        session.run_starts.append(len(given))
        session.run_lines.append(facts.line)
        for offset, value in zip(offsets, operation.values, strict=True):
            if offset <= last:
                name = facts.partitions[partition].name
                text = f"{client.name} was given offset {offset} of {name} after {last}"
                self._found(Kind.NONMONOTONIC_POLL, text)
                session = self._session(client, partition, offset)
                session.run_starts.append(0)
                session.run_lines.append(facts.line)
                given = session.offsets
            given.append(offset)
            last = offset
            there = log.get(offset)
            if there is None or values[there] != value:
                see(partition, offset, value)
        transaction = facts.transaction_of(operation.transaction)
        if transaction != UNKNOWN:
            facts.reads_in.extend(
                (transaction, partition, offset, client.read_committed) for offset in offsets
            )

    def _session(self, client: Client, partition: int, first: int) -> Session:
        session = Session(client.name, first, read_committed=client.read_committed)
        client.sessions[partition] = session
        client.seeks.pop(partition, None)
        self.facts.partitions[partition].sessions.append(session)
        return session

    def _check_watermarks(self, client: Client, partition: int, operation: Operation) -> None:
        high, stable = operation.high_watermark, operation.last_stable_offset
        if high < 0 and stable < 0:
            return
        name = self.facts.partitions[partition].name
        high_before, stable_before = client.watermarks.get(partition, (-1, -1))
        client.watermarks[partition] = high, stable
        end = stable if client.read_committed and stable >= 0 else high
        last = operation.offsets[-1] if operation.offsets else -1
        for wrong, text in (
            (0 <= high < high_before, f"the high watermark went back: {high_before}, {high}"),
            (
                0 <= stable < stable_before,
                f"the last stable offset went back: {stable_before}, {stable}",
            ),
            (
                0 <= high < stable,
                f"the last stable offset {stable} is above the high watermark {high}",
            ),
            (0 <= end <= last, f"offset {last} was given out, and the end was {end}"),
        ):
            if wrong:
                self._found(Kind.WATERMARK, f"{name}, as told to {client.name}: {text}")

    def _assign(self, client: Client) -> None:
        client.sessions.clear()
        client.seeks.clear()

    def _seek(self, client: Client, operation: Operation) -> None:
        partition = self.facts.partition_of(operation.topic, operation.partition)
        client.sessions.pop(partition, None)
        client.seeks.pop(partition, None)
        if operation.offset != UNKNOWN:
            client.seeks[partition] = operation.offset

    def _found(
        self, kind: Kind, text: str, steps: tuple[str, ...] = (), *, expected: str = ""
    ) -> None:
        self.report.add(Finding(kind, text, steps, expected=expected))

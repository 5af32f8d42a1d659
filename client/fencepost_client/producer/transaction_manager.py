"""``TransactionManager``: the stage of a transactional producer, and its requests.

Three protocols, chosen by the finalized feature ``transaction.version`` when a transaction begins:

0, 1  partitions are added with AddPartitionsToTxn before anything is sent to them, a group with
      AddOffsetsToTxn; the epoch stays, and is bumped by InitProducerId only where sequences broke
      (KIP-360)
2     Produce v12 and TxnOffsetCommit v5 add by themselves, and every EndTxn v5 answers with the
      next epoch (KIP-890); the first partitions are added by a request where Produce would wait
      longer (``marker_waits``)

With a :class:`Registration` (KIP-609) partitions and group are added at the beginning in any of
them, by AddPartitionsToTxn v3, and a commit names what was written.

A commit without an answer has an unknown outcome. The stage stays COMMITTING, and only another
commit is allowed, which the coordinator answers with the outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnResponse
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
)

from fencepost_client.errors import (
    AbortableTransactionError,
    CommitFailedError,
    FatalError,
    FencedError,
    IllegalStateError,
    KafkaError,
    ProducerFencedError,
    TransactionTimedOutError,
    UnsupportedVersionError,
    producer_error,
)
from fencepost_client.producer.batch import NOBODY, Identity
from fencepost_client.producer.marker_waits import MarkerWaits
from fencepost_client.producer.preregistration import Registration, what_was_written
from fencepost_client.producer.producer_ids import was_ended_by_timeout
from fencepost_client.producer.response_codes import (
    ABORT_IS_ENOUGH,
    ANOTHER_IS_AT_WORK,
    ENDS_THE_PRODUCER,
    OUT_OF_THE_GROUP,
    PERHAPS_TIMED_OUT,
    by_topic,
    code_of,
    offset_of,
    worst_of_offsets,
    worst_of_partitions,
)
from fencepost_client.producer.stages import ALLOWED_FROM, Stage
from fencepost_client.requests.backoff import Backoff, Chance
from fencepost_client.requests.procedures import (
    GROUP,
    TRANSACTION,
    Ask,
    Coordinator,
    Procedure,
    retry,
)
from fencepost_client.types import (
    GroupMetadata,
    OffsetAndMetadata,
    PreparedTxnState,
    TopicPartition,
)

VERSION_2: Final = 2
TRANSACTION_MS: Final = 60_000
CLIENTS_ADD_PARTITIONS_UP_TO: Final = 3
"""AddPartitionsToTxn from v4 on is for brokers."""
LAST_BEFORE_VERSION_2: Final = 4
"""Of EndTxn and TxnOffsetCommit: later versions mean transaction version 2."""
_MEMBERSHIP_FROM: Final = 3
"""The version of TxnOffsetCommit that says which member commits (KIP-447)."""
_REGISTRATION_FROM: Final = 3
"""The version of AddPartitionsToTxn that can name a group (KIP-609)."""
_BUMP_FROM: Final = 3
_TWO_PHASE_COMMIT_FROM: Final = 6


class _GroupHasToBeAddedError(KafkaError):
    """A coordinator that is older than the cluster's transaction version: it adds no group."""


class TransactionManager:
    """The state of a transactional producer."""

    def __init__(
        self,
        transactional_id: str,
        timeout_ms: int | None,
        chance: Chance,
        *,
        can_prepare: bool = False,
        keeps_prepared: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.timeout_ms = timeout_ms or TRANSACTION_MS
        self.can_prepare = can_prepare
        self._keeps_prepared = keeps_prepared
        self.prepared: PreparedTxnState | None = None
        """The transaction that waits for its end; one without a producer id if none was kept."""
        self._was_kept = False
        self.stage = Stage.UNINITIALIZED
        self.identity = NOBODY
        self.version = 0
        """The feature ``transaction.version``, which the adapter looks up at each begin."""
        self.error: KafkaError | None = None
        self.on_failure: Callable[[KafkaError], None] = lambda _: None
        """Called when the transaction, or the producer, cannot go on."""
        self.registration: Registration | None = None
        self.wanted: set[TopicPartition] = set()
        """Partitions to add before anything can be sent to them."""
        self._group_wanted: str | None = None
        self._added: set[TopicPartition] = set()
        self._groups: set[str] = set()
        self._written: set[TopicPartition] = set()
        self._groups_written: set[str] = set()
        self.marker_waits = MarkerWaits()
        self._perhaps_begun = False
        """Something was to be added; what the coordinator made of it may not be known."""
        self._sequences_broke = False
        self._is_end_open = self._is_end_lost = False
        """The EndTxn of this transaction has no answer yet, or one of them never got any."""
        self._was_timed_out = False
        """The coordinator has aborted the transaction by itself; the identity is the next one."""
        self._chance = chance

    # -- stages --------------------------------------------------------------------------------

    def _to(self, stage: Stage) -> None:
        if self.stage not in ALLOWED_FROM[stage]:
            raise IllegalStateError(
                f"producer {self.transactional_id!r} is {self.stage.value}: it cannot be "
                f"{stage.value} next"
            )
        self.stage = stage

    def begin(self, version: int, registration: Registration | None = None) -> None:
        """Begin a transaction, without a request unless there are partitions to register."""
        self.check_alive()
        self._to(Stage.IN_TRANSACTION)
        self.version = version
        self.error = self.prepared = None
        self._perhaps_begun = self._was_timed_out = False
        self._is_end_open = self._is_end_lost = False
        for of_the_last in (self._added, self._groups, self._written, self._groups_written):
            of_the_last.clear()
        self.marker_waits.begin()
        self.registration = registration
        self._want(registration)

    def _want(self, registration: Registration | None) -> None:
        self.wanted = set(registration.partitions or ()) if registration is not None else set()
        self._group_wanted = registration.group_id if registration is not None else None

    @property
    def has_to_add(self) -> bool:
        """Whether ``add_partitions`` has something to do."""
        return bool(self.wanted) or self._group_wanted is not None

    def check_alive(self) -> None:
        """Raise the error that ended this producer."""
        if self.stage is Stage.FATAL and self.error is not None:
            raise self.error

    def refusal(self) -> KafkaError | None:
        """The error that ended this producer, or its transaction except for the abort."""
        if self.stage is Stage.FATAL:
            return self.error
        if self.stage is not Stage.ABORTABLE_ERROR:
            return None
        error = AbortableTransactionError(
            f"The transaction of {self.transactional_id!r} must be aborted: {self.error}",
            code=ErrorCode.TRANSACTION_ABORTABLE,
        )
        error.__cause__ = self.error
        return error

    def check_in_transaction(self) -> None:
        """Raise an error unless records and offsets can be sent."""
        if (refusal := self.refusal()) is not None:
            raise refusal
        if self.stage is not Stage.IN_TRANSACTION:
            raise IllegalStateError(
                f"producer {self.transactional_id!r} is {self.stage.value}: begin a transaction"
            )

    def _fail(self, error: KafkaError) -> KafkaError:
        """Record an error that ends the transaction or the producer; returns it."""
        self.error = error
        is_fatal = isinstance(error, ProducerFencedError) or (
            isinstance(error, FatalError | FencedError) and error.code not in ABORT_IS_ENOUGH
        )
        in_transaction = self.stage in ALLOWED_FROM[Stage.ABORTABLE_ERROR]
        self.stage = Stage.ABORTABLE_ERROR if in_transaction and not is_fatal else Stage.FATAL
        self.on_failure(error)
        return error

    # -- what the sender asks ------------------------------------------------------------------

    def may_send(self, topic: str, partition: int) -> bool:
        """Whether the partition is in the transaction; if not, it will be added."""
        where = TopicPartition(topic, partition)
        if where in self._added:
            return True
        if self.version >= VERSION_2 and where not in self.wanted and not self._adds_first:
            self._added.add(where)  # the broker adds it with the first Produce
            return True
        self.wanted.add(where)
        return False

    @property
    def _adds_first(self) -> bool:
        """Whether a request opens the transaction in version 2, too."""
        return self.marker_waits.are_likely and not self._added and not self._groups

    def sending(self, topic: str, partition: int) -> None:
        """Note that records may be written to the partition from now on."""
        self._written.add(TopicPartition(topic, partition))

    def batch_failed(self, error: KafkaError) -> None:
        """End the transaction except for the abort, because records were not written."""
        self._sequences_broke = True
        if self.stage not in ALLOWED_FROM[Stage.ABORTABLE_ERROR]:
            return
        if error.code in ENDS_THE_PRODUCER:
            self._fail(error)
        elif self.stage is not Stage.ABORTABLE_ERROR:  # what came first is why
            self.error, self.stage = error, Stage.ABORTABLE_ERROR
            self.on_failure(error)

    # -- exchanges -----------------------------------------------------------------------------

    def _backoff(self, initial_ms: int = 100) -> Backoff:
        return Backoff(self._chance, initial_ms)

    @property
    def _coordinator(self) -> Coordinator:
        return Coordinator(TRANSACTION, self.transactional_id)

    def initialize(self) -> Procedure[Identity]:
        """Get a producer id and an epoch; aborts or keeps an earlier producer's transaction."""
        self._to(Stage.INITIALIZING)
        identity = yield from self._ask_identity(NOBODY)
        self._was_kept = self.prepared is not None and self.prepared.has_transaction
        self._to(Stage.PREPARED if self._was_kept else Stage.READY)
        return identity

    def prepare(self) -> PreparedTxnState:
        """Allow only the end from now on, when all records have their outcome (KIP-939)."""
        self.check_in_transaction()
        self._to(Stage.PREPARED)
        self.prepared = PreparedTxnState(*self.identity)
        return self.prepared

    def _ask_identity(self, current: Identity) -> Procedure[Identity]:
        keeps = self._keeps_prepared and self.stage is Stage.INITIALIZING

        def build(version: int) -> InitProducerIdRequest:
            request = InitProducerIdRequest(self.transactional_id, self.timeout_ms)
            if version >= _BUMP_FROM:
                request.producer_id, request.producer_epoch = current
            if self.can_prepare or keeps:
                if version < _TWO_PHASE_COMMIT_FROM:
                    raise UnsupportedVersionError(
                        "Two-phase commit needs unstable.api.versions.enable at the broker."
                    )
                request.enable2_pc, request.keep_prepared_txn = self.can_prepare, keeps
            return request

        ask = Ask(self._coordinator, ApiKey.INIT_PRODUCER_ID, build)
        answer = yield from retry(ask, code_of, self._backoff())
        if answer.error_code:
            raise self._fail(self._error(answer.error_code, "asking for a producer id"))
        self.identity = Identity(answer.producer_id, answer.producer_epoch)
        if keeps:
            ongoing = answer.ongoing_txn_producer_id, answer.ongoing_txn_producer_epoch
            self.prepared = PreparedTxnState(*ongoing)
        self._sequences_broke = False
        return self.identity

    def add_partitions(self) -> Procedure[None]:
        """Add partitions to the transaction (in versions 0 and 1, and registered ones)."""
        if self.stage is Stage.ABORTABLE_ERROR:
            self._want(None)
            self.check_in_transaction()
        wanted, group_id = set(self.wanted), self._group_wanted
        if not wanted:
            # With nothing to add, AddPartitionsToTxn could not say what is wrong with the group.
            if group_id is not None:
                yield from self._add_group(group_id)
            return

        def build(version: int) -> AddPartitionsToTxnRequest:
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.transactional_id,
                v3_and_below_producer_id=self.identity.producer_id,
                v3_and_below_producer_epoch=self.identity.epoch,
                v3_and_below_topics=[
                    AddPartitionsToTxnTopic(topic, partitions)
                    for topic, partitions in by_topic(wanted).items()
                ],
            )
            if version >= _REGISTRATION_FROM:
                request.group_id = group_id
            return request

        ask = Ask(
            self._coordinator,
            ApiKey.ADD_PARTITIONS_TO_TXN,
            build,
            version_max=CLIENTS_ADD_PARTITIONS_UP_TO,
        )
        self._perhaps_begun = True
        # The usual reason to repeat is the transaction before, whose markers are on their way.
        backoff = self._backoff(initial_ms=1)
        answer = yield from retry(ask, worst_of_partitions, backoff)
        code = worst_of_partitions(answer)
        self.marker_waits.added(had_to_wait=backoff.attempts > 0)
        if code:
            raise self._fail((yield from self._refused(code, "adding partitions")))
        self._added |= wanted
        self.wanted -= wanted
        if self.version >= VERSION_2 and self.registration is None:
            self.wanted.clear()  # the transaction is open: Produce adds the others
        if group_id is not None:
            self._group_wanted = None
            self._groups.add(group_id)

    def _add_group(self, group_id: str) -> Procedure[None]:
        request = AddOffsetsToTxnRequest(self.transactional_id, *self.identity, group_id=group_id)
        ask = Ask(self._coordinator, ApiKey.ADD_OFFSETS_TO_TXN, lambda _: request)
        self._perhaps_begun = True
        answer = yield from retry(ask, code_of, self._backoff(initial_ms=1))
        if answer.error_code:
            raise self._fail((yield from self._refused(answer.error_code, "adding offsets")))
        self._group_wanted = None
        self._groups.add(group_id)

    def send_offsets(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], group: GroupMetadata
    ) -> Procedure[None]:
        """Add offsets of a consumer group to the transaction (KIP-447)."""
        self.check_in_transaction()
        if self.registration is not None:
            self.registration.check_group(group.group_id)
        if self.version < VERSION_2 and group.group_id not in self._groups:
            yield from self._add_group(group.group_id)
        try:
            code = yield from self._commit_offsets(offsets, group)
        except _GroupHasToBeAddedError:
            yield from self._add_group(group.group_id)
            code = yield from self._commit_offsets(offsets, group)
        if not code:
            return
        state = f"sending offsets of group {group.group_id!r}"
        error = yield from self._refused(code, state)
        if code in OUT_OF_THE_GROUP:
            error = CommitFailedError(code=code, state=state)
        raise self._fail(error)

    def _commit_offsets(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], group: GroupMetadata
    ) -> Procedure[int]:
        def build(version: int) -> TxnOffsetCommitRequest:
            request = TxnOffsetCommitRequest(self.transactional_id, group.group_id, *self.identity)
            if version >= _MEMBERSHIP_FROM:
                request.generation_id = group.generation_id
                request.member_id = group.member_id
                request.group_instance_id = group.group_instance_id
            elif group.member_id or group.generation_id >= 0:
                raise UnsupportedVersionError(
                    f"TxnOffsetCommit v{version} cannot name the member that commits; the group's "
                    f"coordinator has to be Apache Kafka 2.5 or newer."
                )
            if version <= LAST_BEFORE_VERSION_2 and group.group_id not in self._groups:
                raise _GroupHasToBeAddedError
            self._groups_written.add(group.group_id)
            request.topics = [
                TxnOffsetCommitRequestTopic(topic, [offset_of(topic, p, offsets) for p in parts])
                for topic, parts in by_topic(offsets).items()
            ]
            return request

        ask = Ask(
            Coordinator(GROUP, group.group_id),
            ApiKey.TXN_OFFSET_COMMIT,
            build,
            version_max=None if self.version >= VERSION_2 else LAST_BEFORE_VERSION_2,
        )
        answer = yield from retry(ask, worst_of_offsets, self._backoff(initial_ms=20))
        return worst_of_offsets(answer)

    def end(self, *, commit: bool) -> Procedure[Identity]:
        """Commit or abort, when all records have their outcome."""
        self.check_alive()
        if commit:
            if self.stage is Stage.ABORTABLE_ERROR:
                self.check_in_transaction()
            self._to(Stage.COMMITTING)
        else:
            self._to(Stage.ABORTING)
        self._want(None)
        if (self._has_begun or self._perhaps_begun) and not self._was_timed_out:
            yield from self._end(commit=commit)
        if self._sequences_broke and self.version < VERSION_2:
            yield from self._ask_identity(self.identity)
        self._sequences_broke = self._was_kept = False
        self.prepared = None
        self._to(Stage.READY)
        return self.identity

    @property
    def _has_begun(self) -> bool:
        """Whether there is something to end."""
        return bool(self._added or self._groups or self._groups_written or self._was_kept)

    @property
    def _is_surely_open(self) -> bool:
        """Whether the coordinator has it open, or has ended it by itself."""
        return bool(self._added or self._groups) and not self._is_end_lost

    def _end(self, *, commit: bool) -> Procedure[None]:
        request = EndTxnRequest(self.transactional_id, *self.identity, committed=commit)
        if commit and self.registration is not None:
            request.topics = yield from what_was_written(self._written, self._groups_written)

        def build(_: int) -> EndTxnRequest:
            self._is_end_lost |= self._is_end_open
            self._is_end_open = True
            return request

        def answered(answer: EndTxnResponse) -> int:
            self._is_end_open = False
            return answer.error_code

        ask = Ask(
            self._coordinator,
            ApiKey.END_TXN,
            build,
            version_max=None if self.version >= VERSION_2 else LAST_BEFORE_VERSION_2,
        )
        answer = yield from retry(ask, answered, self._backoff(initial_ms=20))
        if answer.error_code == ErrorCode.INVALID_TXN_STATE and not self._has_begun:
            return  # what was to be added never got there
        if answer.error_code:
            state = "committing" if commit else "aborting"
            error = yield from self._refused(answer.error_code, state)
            if self._was_timed_out and not commit:
                return  # it is aborted
            raise self._fail(error)
        if self.version >= VERSION_2 and answer.producer_id >= 0:
            self.identity = Identity(answer.producer_id, answer.producer_epoch)

    def _refused(self, code: int, state: str) -> Procedure[KafkaError]:
        """What to raise; an epoch that is old by the transaction's time-out alone is renewed."""
        if code in PERHAPS_TIMED_OUT and (
            yield from was_ended_by_timeout(
                self.transactional_id, self.identity, self._backoff(initial_ms=20)
            )
        ):
            current = self.identity
            if self.version < VERSION_2 and self._is_surely_open:
                # Before version 2 coordinators forget which epoch a time-out has raised. Here it
                # is certain that nobody was given the raised one, so it may be shown.
                current = Identity(current.producer_id, current.epoch + 1)
            # If another producer came in between, this is what fails, and fences for good.
            yield from self._ask_identity(current)
            self._was_timed_out = True
            return TransactionTimedOutError(state=self._where(state))
        return self._error(code, state)

    def _where(self, state: str) -> str:
        return f"{state}, transactional id {self.transactional_id!r}"

    def _error(self, code: int, state: str) -> KafkaError:
        state = self._where(state)
        if code in ANOTHER_IS_AT_WORK:
            return ProducerFencedError(code=code, state=state)
        return producer_error(code, state=state)

"""``exactly_once`` for blocking code: the handler runs in the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TypeAlias

from fencepost_client.clients import exactly_once as asynchronous
from fencepost_client.clients import transaction as asynchronous_transaction
from fencepost_client.clients.blocking.generated.faces import Consumer, Producer, Transaction
from fencepost_client.clients.blocking.portal import Portal, enter, in_calling_thread, leave
from fencepost_client.errors import IllegalStateError
from fencepost_client.types import ConsumerRecord

Handler: TypeAlias = Callable[[Sequence[ConsumerRecord], Transaction], None]


class ExactlyOnce:
    """See :func:`exactly_once`."""

    def __init__(
        self,
        consumer: Consumer,
        producer: Producer,
        handler: Handler,
        *,
        poll_timeout_ms: int,
        rebalance_timeout_ms: int,
        stop_timeout_ms: int,
        attempts_max: int,
    ) -> None:
        async def in_caller(
            records: Sequence[ConsumerRecord], transaction: asynchronous_transaction.Transaction
        ) -> None:
            face = Transaction._around(transaction, self._portal)
            await in_calling_thread(handler, records, face)

        self._subject = asynchronous.exactly_once(
            consumer._subject,
            producer._subject,
            in_caller,
            poll_timeout_ms=poll_timeout_ms,
            rebalance_timeout_ms=rebalance_timeout_ms,
            stop_timeout_ms=stop_timeout_ms,
            attempts_max=attempts_max,
        )
        self._portal: Portal | None = None
        self._is_closed = False

    @property
    def aborted(self) -> int:
        """The number of attempts that were aborted and repeated."""
        return self._subject.aborted

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> asynchronous.Committed:
        if self._is_closed:
            raise IllegalStateError("exactly_once is closed: create a new one")
        if self._portal is None:
            self._portal = enter()
        done = self._portal.call(self._step)
        if done is None:
            raise StopIteration
        return done

    async def _step(self) -> asynchronous.Committed | None:
        return await anext(self._subject, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def stop(self) -> None:
        """End the iteration: after the open transaction, or else at once.

        It may be called from any thread. A transaction that is not committed within
        ``stop_timeout_ms`` is aborted. A running handler is not interrupted, but its calls raise
        errors.
        """
        self._subject.stop()

    def close(self) -> None:
        """Abort an open transaction, and close the producer if it was started here."""
        self._is_closed = True
        portal, self._portal = self._portal, None
        if portal is None:
            return
        try:
            if portal.is_here:
                portal.call(self._subject.close)
        finally:
            leave(portal)


def exactly_once(
    consumer: Consumer,
    producer: Producer,
    handler: Handler,
    *,
    poll_timeout_ms: int = 1_000,
    rebalance_timeout_ms: int = 300_000,
    stop_timeout_ms: int = 30_000,
    attempts_max: int = 10,
) -> ExactlyOnce:
    """Read records, pass them to ``handler``, and commit output and offsets in one transaction.

        def handler(records, transaction):
            for record in records:
                transaction.send("invoices", price(record.value), key=record.key)

        consumer = Consumer("localhost:9092", group_id="billing", enable_auto_commit=False,
                            isolation_level="read_committed", auto_offset_reset="earliest")
        producer = Producer("localhost:9092", transactional_id="billing-1")
        with consumer, exactly_once(consumer, producer, handler) as transactions:
            consumer.subscribe(["orders"])
            for done in transactions:
                print(len(done.records), "orders are invoiced")

    Each step of the iteration is one committed transaction. The handler runs in the thread of the
    iteration, and may block. After an abort it is called again with the same records, so its
    effects outside of ``transaction`` may happen more than once. An exception of the handler aborts
    the transaction and is raised; so is the last of ``attempts_max`` failures in a row.

    A producer that is not started is started here and closed at the end. Its
    ``transaction_timeout_ms`` is 10 s by default. ``stop()``, also from another thread, ends the
    iteration, at once while it waits, or when the open transaction is committed, or aborted after
    ``stop_timeout_ms`` (and when the handler has returned). ``close()``, at the end of the block,
    aborts an open transaction and waits ten seconds for that at most.
    """
    return ExactlyOnce(
        consumer,
        producer,
        handler,
        poll_timeout_ms=poll_timeout_ms,
        rebalance_timeout_ms=rebalance_timeout_ms,
        stop_timeout_ms=stop_timeout_ms,
        attempts_max=attempts_max,
    )

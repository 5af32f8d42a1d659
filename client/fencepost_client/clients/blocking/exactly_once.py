"""``exactly_once`` without a loop of one's own: its handler runs in the calling thread."""

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
        """How many attempts were aborted and made again."""
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
        """End the iteration: behind the transaction that is under way, or else at once.

        From any thread. A transaction that is not committed within ``stop_timeout_ms`` from now is
        aborted then. A handler that is still running is not interrupted, but its calls are refused.
        """
        self._subject.stop()

    def close(self) -> None:
        """Abort what is open; a producer that was started here is closed."""
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
    """Read, let ``handler`` write, commit both as one; each step gives a committed transaction.

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

    The handler runs in the thread that asks for the next transaction, and may block. It may be
    called again with the same records, when the transaction had to be aborted: what it does beside
    ``transaction`` happens as often. An exception of its own aborts and is raised; so does the last
    of ``attempts_max`` failures in a row. A producer that is not started is started here, and
    closed at the end, with a ``transaction_timeout_ms`` of 10 s unless it has one. ``stop()``, also
    from another thread, ends the iteration: at once while it waits, and otherwise when the
    transaction that is open is committed, or is aborted because ``stop_timeout_ms`` are over (a
    handler that blocks is waited for). ``close()`` (the block's end) aborts what is open, and waits
    ten seconds for that at most.
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

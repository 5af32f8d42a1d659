"""Carries out the operations of ``fencepost_broker.operations`` on a running broker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fencepost_broker import operations as given
from fencepost_broker.coordinator.runtime.shard import AppendRefusedError
from fencepost_broker.operations import Operation, OperationRefusedError
from fencepost_broker.server.operations import cluster, coordinators, groups, transactions

if TYPE_CHECKING:
    from fencepost_broker.server.broker_server import BrokerServer

ResultT = TypeVar("ResultT")

CARRIES_OUT: Final[dict[type[Operation[Any]], Callable[[BrokerServer, Any], Any]]] = {
    given.AbortHangingTransaction: transactions.abort_hanging,
    given.BumpProducerEpoch: transactions.bump_epoch,
    given.CrashAtStep: coordinators.crash_at_step,
    given.ExpireSession: groups.expire_session,
    given.ExpireTransactionalId: transactions.expire_id,
    given.FenceBroker: cluster.fence_broker,
    given.FenceProducer: transactions.fence_producer,
    given.ForgetProducer: transactions.forget_producer,
    given.HoldMarkers: transactions.hold_markers,
    given.LoadCoordinator: coordinators.load,
    given.MoveCoordinator: coordinators.move,
    given.MoveLeader: cluster.move_leader,
    given.RebalanceGroup: groups.rebalance,
    given.ReleaseMarkers: transactions.release_markers,
    given.RemoveMember: groups.remove_member,
    given.ShrinkIsr: cluster.shrink_isr,
    given.TimeOutTransaction: transactions.time_out,
    given.UnfenceBroker: cluster.unfence_broker,
    given.UnloadCoordinator: coordinators.unload,
}
"""The function of each operation; it gets the broker and the operation."""


async def perform(server: BrokerServer, operation: Operation[ResultT]) -> ResultT:
    """Carry out an operation; raises ``OperationRefusedError`` if it cannot work.

    It suspends only to ask a controller in another process, or for a marker's followers.
    """
    carry_out = CARRIES_OUT.get(type(operation))
    if carry_out is None:
        raise TypeError(
            f"{operation!r:.80} is no operation: give one of fencepost_broker.operations, such as"
            ' TimeOutTransaction(transactional_id="payments")'
        )
    try:
        result: ResultT | Awaitable[ResultT] = carry_out(server, operation)
        return await result if isawaitable(result) else result
    except AppendRefusedError as error:
        raise OperationRefusedError(
            f"the coordinator's log refuses the records: {error}"
        ) from error

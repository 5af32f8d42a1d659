"""Waiting for states of groups and transactions, as a broker describes them."""

from __future__ import annotations

from fencepost_client import Admin, GroupIdNotFoundError, TransactionalIdNotFoundError

from tests.support.waiting import asked_until


async def is_member(bootstrap: str, group_id: str) -> None:
    """Return when the group has a member with an assignment."""
    await is_in_state(bootstrap, group_id, "Stable")


async def is_in_state(bootstrap: str, group_id: str, state: str) -> None:
    """Return when the group is in a state."""
    async with Admin(bootstrap) as admin:

        async def is_there() -> bool:
            try:
                described = (await admin.describe_groups([group_id]))[group_id]
            except GroupIdNotFoundError:
                return False
            return described.state == state

        await asked_until(is_there)


async def is_over(bootstrap: str, transactional_id: str, *, committed: bool | None = None) -> None:
    """Return when the last transaction has ended, and its markers are written."""
    wanted = {
        None: ("CompleteCommit", "CompleteAbort"),
        True: ("CompleteCommit",),
        False: ("CompleteAbort",),
    }[committed]
    async with Admin(bootstrap) as admin:

        async def is_there() -> bool:
            try:
                found = await admin.describe_transactions([transactional_id])
            except TransactionalIdNotFoundError:
                return False
            return found[transactional_id].state in wanted

        await asked_until(is_there)

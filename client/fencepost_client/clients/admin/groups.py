"""The part of ``Admin`` that is about groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fencepost_client.admin.group_offsets import (
    alter_group_offsets,
    delete_group_offsets,
    list_group_offsets,
    list_offsets_of_groups,
)
from fencepost_client.admin.groups import (
    GroupDescription,
    GroupListing,
    MemberToRemove,
    delete_groups,
    describe_groups,
    list_groups,
    remove_members,
)
from fencepost_client.clients.admin.base import AdminBase
from fencepost_client.types import OffsetAndMetadata, TopicPartition


class AdminGroups(AdminBase):
    """Groups, and what they have committed."""

    async def list_groups(
        self, *, states: Sequence[str] = (), types: Sequence[str] = ()
    ) -> list[GroupListing]:
        """The groups of the whole cluster, all or those in these states and of these types.

        for group in await admin.list_groups(states=["Empty"], types=["classic"]):
            print(group.group_id)
        """
        return await self._run(list_groups(states, types, self._backoff()))

    async def describe_groups(self, group_ids: Iterable[str]) -> dict[str, GroupDescription]:
        """Groups of both kinds, with their members and what these are assigned.

        for member in (await admin.describe_groups(["billing"]))["billing"].members:
            print(member.client_id, member.assignment)
        """
        return await self._run(describe_groups(group_ids, self._backoff()))

    async def delete_groups(self, group_ids: Iterable[str]) -> None:
        """Delete groups that have no members, with all that they have committed.

        await admin.delete_groups(["billing"])
        """
        await self._run(delete_groups(group_ids, self._backoff()))

    async def remove_group_members(
        self,
        group_id: str,
        members: Iterable[MemberToRemove] | None = None,
        *,
        reason: str = "removed by an administrator",
    ) -> None:
        """Take members out of a group, these or all; those that still live join again.

        await admin.remove_group_members("billing", [MemberToRemove(group_instance_id="pod-1")])
        """
        await self._run(remove_members(group_id, members, reason, self._backoff()))

    # -- offsets -------------------------------------------------------------------------------

    async def list_group_offsets(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        require_stable: bool = False,
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """What a group has committed, in these partitions or all; without a commit: left out.

        ``require_stable`` waits for those that are part of an open transaction.

        lag = end - (await admin.list_group_offsets("billing"))[partition].offset
        """
        return await self._run(
            list_group_offsets(group_id, partitions, self._backoff(), require_stable=require_stable)
        )

    async def list_offsets_of_groups(
        self, group_ids: Iterable[str], *, require_stable: bool = False
    ) -> dict[str, dict[TopicPartition, OffsetAndMetadata]]:
        """All that several groups have committed, by one request for each coordinator.

        for group_id, offsets in (await admin.list_offsets_of_groups(["billing", "audit"])).items():
            print(group_id, offsets)
        """
        return await self._run(
            list_offsets_of_groups(group_ids, self._backoff(), require_stable=require_stable)
        )

    async def alter_group_offsets(
        self, group_id: str, offsets: Mapping[TopicPartition, OffsetAndMetadata | int]
    ) -> None:
        """Set where a group without members goes on.

        await admin.alter_group_offsets("billing", {TopicPartition("orders", 0): 1000})
        """
        await self._run(alter_group_offsets(group_id, offsets, self._backoff()))

    async def delete_group_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition]
    ) -> None:
        """Forget what a group has committed in partitions to which no member is subscribed.

        await admin.delete_group_offsets("billing", [TopicPartition("orders", 0)])
        """
        await self._run(delete_group_offsets(group_id, partitions, self._backoff()))

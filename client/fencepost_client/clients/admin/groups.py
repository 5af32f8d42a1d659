"""The part of ``Admin`` for groups."""

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
from fencepost_client.admin.share_offsets import (
    SharePartitionOffset,
    alter_share_group_offsets,
    delete_share_group_offsets,
    list_share_group_offsets,
)
from fencepost_client.clients.admin.base import AdminBase
from fencepost_client.types import OffsetAndMetadata, TopicPartition


class AdminGroups(AdminBase):
    """Groups and their committed offsets."""

    async def list_groups(
        self, *, states: Sequence[str] = (), types: Sequence[str] = ()
    ) -> list[GroupListing]:
        """The groups of the cluster, all or those in these states and of these types.

        for group in await admin.list_groups(states=["Empty"], types=["classic"]):
            print(group.group_id)
        """
        return await self._run(list_groups(states, types, self._backoff()))

    async def describe_groups(self, group_ids: Iterable[str]) -> dict[str, GroupDescription]:
        """Groups of all types, with their members and assignments.

        for member in (await admin.describe_groups(["billing"]))["billing"].members:
            print(member.client_id, member.assignment)
        """
        return await self._run(describe_groups(group_ids, self._backoff()))

    async def delete_groups(self, group_ids: Iterable[str]) -> None:
        """Delete groups without members, and their offsets.

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
        """Remove members from a group, these or all; members that still run join again.

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
        """The committed offsets of a group, in these partitions or all.

        ``require_stable`` waits for offsets that are part of an open transaction.

        lag = end - (await admin.list_group_offsets("billing"))[partition].offset
        """
        return await self._run(
            list_group_offsets(group_id, partitions, self._backoff(), require_stable=require_stable)
        )

    async def list_offsets_of_groups(
        self, group_ids: Iterable[str], *, require_stable: bool = False
    ) -> dict[str, dict[TopicPartition, OffsetAndMetadata]]:
        """The committed offsets of several groups, by one request for each coordinator.

        for group_id, offsets in (await admin.list_offsets_of_groups(["billing", "audit"])).items():
            print(group_id, offsets)
        """
        return await self._run(
            list_offsets_of_groups(group_ids, self._backoff(), require_stable=require_stable)
        )

    async def alter_group_offsets(
        self, group_id: str, offsets: Mapping[TopicPartition, OffsetAndMetadata | int]
    ) -> None:
        """Set the offsets of a group without members.

        await admin.alter_group_offsets("billing", {TopicPartition("orders", 0): 1000})
        """
        await self._run(alter_group_offsets(group_id, offsets, self._backoff()))

    async def delete_group_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition]
    ) -> None:
        """Delete offsets of a group in partitions of topics that no member subscribes to.

        await admin.delete_group_offsets("billing", [TopicPartition("orders", 0)])
        """
        await self._run(delete_group_offsets(group_id, partitions, self._backoff()))

    # -- offsets of share groups -----------------------------------------------------------------

    async def list_share_group_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition] | None = None
    ) -> dict[TopicPartition, SharePartitionOffset]:
        """The start offsets and the lag of a share group, in these partitions or all.

        for partition, offset in (await admin.list_share_group_offsets("mailers")).items():
            print(partition, offset.start_offset, offset.lag)
        """
        return await self._run(list_share_group_offsets(group_id, partitions, self._backoff()))

    async def alter_share_group_offsets(
        self, group_id: str, offsets: Mapping[TopicPartition, int]
    ) -> None:
        """Set the start offsets of a share group without members.

        await admin.alter_share_group_offsets("mailers", {TopicPartition("mails", 0): 0})
        """
        await self._run(alter_share_group_offsets(group_id, offsets, self._backoff()))

    async def delete_share_group_offsets(self, group_id: str, topics: Iterable[str]) -> None:
        """Delete the state of topics; a share group without members begins there anew.

        await admin.delete_share_group_offsets("mailers", ["mails"])
        """
        await self._run(delete_share_group_offsets(group_id, topics, self._backoff()))

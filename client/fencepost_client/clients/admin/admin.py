"""``Admin``, of all its parts."""

from __future__ import annotations

from fencepost_client.clients.admin.cluster import AdminCluster
from fencepost_client.clients.admin.configs import AdminConfigs
from fencepost_client.clients.admin.groups import AdminGroups
from fencepost_client.clients.admin.quotas_and_users import AdminAccess
from fencepost_client.clients.admin.topics import AdminTopics
from fencepost_client.clients.admin.transactions import AdminTransactions


class Admin(AdminTopics, AdminConfigs, AdminGroups, AdminTransactions, AdminCluster, AdminAccess):
    """Creates, changes, describes and deletes.

    async with Admin("localhost:9092") as admin:
        await admin.create_topics([NewTopic("orders", partitions=3)])
        print(await admin.describe_topics(["orders"]))

    A call for several items does as much as possible, and then raises the first error;
    ``error.outcomes`` has the result or the error of each item.
    """

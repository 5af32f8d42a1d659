"""What clients see of a broker: as values of JSON, which are kept beside a data directory."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, Literal

from fencepost_client import (
    EARLIEST,
    LATEST,
    Admin,
    ConfigResource,
    ConfigSource,
    Consumer,
    ResourceKind,
    TopicPartition,
)
from fencepost_protocol.generated import describe_share_group_offsets as share_offsets
from fencepost_protocol.generated.describe_acls import DescribeAclsRequest
from fencepost_protocol.generated.share_group_describe import ShareGroupDescribeRequest

from tests.release.kept.scene import LONG_MS, all_ended
from tests.support.broker import Client

Facts = dict[str, Any]
Isolation = Literal["read_uncommitted", "read_committed"]
RESOURCES: Final = (
    (ResourceKind.TOPIC, "orders"),
    (ResourceKind.TOPIC, "latest"),
    (ResourceKind.TOPIC, "payments"),
    (ResourceKind.TOPIC, "jobs"),
    (ResourceKind.BROKER, ""),
    (ResourceKind.BROKER, "1"),
    (ResourceKind.GROUP, "workers"),
)
ANY: Final = 1


async def read_facts(bootstrap: str) -> Facts:
    """Read all that the scene has made; markers that were due are written first."""
    async with Admin(bootstrap) as admin, Client(bootstrap) as client:
        await all_ended(admin)
        cluster = await admin.describe_cluster()
        features = (await admin.describe_features()).features
        topics = await admin.describe_topics()
        places = [
            TopicPartition(name, each.partition)
            for name, topic in topics.items()
            if not topic.is_internal
            for each in topic.partitions
        ]
        return {
            "cluster id": cluster.cluster_id,
            "features": {name: each.level for name, each in features.items()},
            "topics": {
                name: [topic.topic_id.hex(), len(topic.partitions)]
                for name, topic in topics.items()
            },
            "settings": await settings(admin),
            "offsets": await log_offsets(admin, places),
            "records": await records(bootstrap, places, "read_uncommitted"),
            "committed records": await records(bootstrap, places, "read_committed"),
            "producers": await producers(admin, places),
            "transactions": await transactions(admin),
            "groups": await groups(admin),
            "share group": await share_group(client),
            "committed offsets": await committed(admin),
            "share offsets": await shared(client),
            "passwords": plain(await admin.describe_user_scram_credentials()),
            "quotas": plain(await admin.describe_client_quotas()),
            "acls": await acls(client),
        }


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {name_of(key): plain(each) for key, each in value.items()}
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, bytes | memoryview):
        return bytes(value).decode()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    return value


def name_of(key: Any) -> str:
    """Return a key of JSON."""
    if isinstance(key, TopicPartition):
        return f"{key.topic}-{key.partition}"
    return key.name if isinstance(key, Enum) else str(key)


async def settings(admin: Admin) -> Facts:
    """Settings that were given while the broker ran."""
    found = await admin.describe_configs([ConfigResource(*each) for each in RESOURCES])
    given = {ConfigSource.DEFAULT, ConfigSource.STATIC_BROKER}
    return {
        f"{resource.kind.name} {resource.name}": {
            name: entry.value for name, entry in entries.items() if entry.source not in given
        }
        for resource, entries in found.items()
    }


async def log_offsets(admin: Admin, places: list[TopicPartition]) -> Any:
    """Where each log begins and ends, and where its open transactions begin."""
    first = await admin.list_offsets(dict.fromkeys(places, EARLIEST))
    last = await admin.list_offsets(dict.fromkeys(places, LATEST))
    stable = await admin.list_offsets(dict.fromkeys(places, LATEST), read_committed=True)
    return plain({p: [first[p].offset, stable[p].offset, last[p].offset] for p in places})


async def records(bootstrap: str, places: list[TopicPartition], isolation: Isolation) -> Facts:
    """All records, with all that they have."""
    found: Facts = {name_of(place): [] for place in places}
    async with Consumer(
        bootstrap, isolation_level=isolation, auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign(places)
        ends = await consumer.end_offsets(places)
        while any([await consumer.position(place) < end for place, end in ends.items()]):
            for each in await consumer.getmany(timeout_ms=LONG_MS):
                found[f"{each.topic}-{each.partition}"].append(
                    plain([each.offset, each.timestamp_ms, each.key, each.value, each.headers])
                )
    return found


async def producers(admin: Admin, places: list[TopicPartition]) -> Any:
    """What partitions know of producers with sequences."""
    found = await admin.describe_producers(places)
    return plain(
        {
            place: sorted(
                [p.producer_id, p.producer_epoch, p.last_sequence, p.start_offset] for p in known
            )
            for place, known in found.items()
        }
    )


async def transactions(admin: Admin) -> Any:
    """Every transactional id."""
    listed = await admin.list_transactions()
    found = await admin.describe_transactions([each.transactional_id for each in listed])
    return plain(
        {
            name: [t.state, t.producer_id, t.producer_epoch, t.timeout_ms, sorted(t.partitions)]
            for name, t in found.items()
        }
    )


async def groups(admin: Admin) -> Any:
    """Every group but share groups, and its members."""
    listed = await admin.list_groups(types=["classic", "consumer"])
    found = await admin.describe_groups([each.group_id for each in listed])
    return plain(
        {
            name: [
                group.group_type,
                group.state,
                [[m.member_id, m.client_id, sorted(m.assignment)] for m in group.members],
            ]
            for name, group in found.items()
        }
    )


async def share_group(client: Client) -> Any:
    """The share group, and its members."""
    [group] = (await client.ask(ShareGroupDescribeRequest(["workers"]), 1)).groups
    members = [[m.member_id, m.client_id, m.subscribed_topic_names] for m in group.members]
    return plain([group.error_code, group.group_state, group.group_epoch, members])


async def committed(admin: Admin) -> Facts:
    """The committed offsets of all groups but share groups."""
    names = ["a classic group", "a consumer group", "empty", "of two topics", "transactional"]
    return {
        name: plain({place: list(each) for place, each in offsets.items()})
        for name in names
        if (offsets := await admin.list_group_offsets(name))
    }


async def shared(client: Client) -> Facts:
    """Where the share partitions of a share group begin."""
    group = share_offsets.DescribeShareGroupOffsetsRequestGroup("workers", None)
    answer = await client.ask(share_offsets.DescribeShareGroupOffsetsRequest([group]), 1)
    return {
        f"{topic.topic_name}-{each.partition_index}": each.start_offset
        for found in answer.groups
        for topic in found.topics
        for each in topic.partitions
    }


async def acls(client: Client) -> list[Any]:
    """Every ACL."""
    asked = DescribeAclsRequest(ANY, None, ANY, None, None, ANY, ANY)
    return sorted(
        [
            *(of.resource_type, of.resource_name, of.pattern_type),
            *(acl.principal, acl.host, acl.operation, acl.permission_type),
        ]
        for of in (await client.ask(asked, 3)).resources
        for acl in of.acls
    )

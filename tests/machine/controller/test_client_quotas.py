"""Quotas that are set and told (KIP-546); codes are compared with Apache Kafka's elsewhere."""

from __future__ import annotations

import pytest
from fencepost_broker.apis.cluster.client_quotas import described_quotas
from fencepost_broker.controller.client_quotas import quotas_by_entity
from fencepost_broker.controller.ports import ControllerSettings
from fencepost_protocol.generated.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
)
from fencepost_protocol.generated.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)

from tests.machine.controller.cluster import CLUSTER_ID, TOO_MANY_RECORDS, Cluster, told
from tests.support.client_quotas import CONSUMED, PRODUCED, Names, entry

USER, CLIENT = [("user", "u")], [("client-id", "c")]
EXACTLY, DEFAULT, ANY = range(3)


def alter(
    cluster: Cluster, *entries: AlterClientQuotasRequestEntryData, dry: bool = False
) -> list[tuple[str, str | None]]:
    return [
        told(each) for each in cluster.ask(AlterClientQuotasRequest(list(entries), dry)).entries
    ]


@pytest.fixture
def cluster() -> Cluster:
    return Cluster().up(1)


def test_set_changed_and_taken_away_over_a_restart(cluster: Cluster) -> None:
    for changes, left in (
        ({PRODUCED: 1000.0, CONSUMED: 5.0}, {PRODUCED: 1000.0, CONSUMED: 5.0}),
        ({PRODUCED: 2000.0}, {PRODUCED: 2000.0, CONSUMED: 5.0}),
        ({PRODUCED: None}, {CONSUMED: 5.0}),
    ):
        assert alter(cluster, entry(USER, **changes)) == [("NONE", None)]
        cluster = cluster.restarted()
        assert quotas_by_entity(cluster.image) == {(("user", "u"),): left}
    assert alter(cluster, entry(USER, **{CONSUMED: None})) == [("NONE", None)]
    assert quotas_by_entity(cluster.image) == {}


def test_what_changes_nothing_writes_nothing(cluster: Cluster) -> None:
    alter(cluster, entry(USER, **{PRODUCED: 1.0}))
    for changes in ({PRODUCED: 1.0}, {CONSUMED: None}, {"of nobody's": None}, {}):
        assert alter(cluster, entry(USER, **changes)) == [("NONE", None)]
        assert cluster.changes == []
    assert alter(cluster, entry(USER, **{PRODUCED: 3.0}), dry=True) == [("NONE", None)]
    assert cluster.changes == []


def test_user_and_client_are_one_entity_in_any_order(cluster: Cluster) -> None:
    alter(cluster, entry([*USER, *CLIENT], **{PRODUCED: 1.0}))
    alter(cluster, entry([*CLIENT, *USER], **{PRODUCED: 2.0}))
    assert quotas_by_entity(cluster.image) == {(("client-id", "c"), ("user", "u")): {PRODUCED: 2.0}}


def test_each_entity_is_decided_by_itself_and_as_a_whole(cluster: Cluster) -> None:
    outcomes = alter(
        cluster, entry(USER, **{PRODUCED: 1.0, "nope": 1.0}), entry(CLIENT, **{PRODUCED: 1.0})
    )
    assert [code for code, _ in outcomes] == ["INVALID_REQUEST", "NONE"]
    assert list(quotas_by_entity(cluster.image)) == [(("client-id", "c"),)]


@pytest.mark.parametrize(
    ("names", "key", "value", "reason"),
    [
        ([], PRODUCED, 1.0, "the entity is empty: name a user, a client-id, both, or an ip"),
        ([("group", "g")], PRODUCED, 1.0,
         "there is no entity type 'group': use user, client-id or ip"),
        ([("user", "")], PRODUCED, 1.0,
         "the user has an empty name: use null for the default"),
        ([("ip", "::1"), *USER], PRODUCED, 1.0,
         "an ip cannot be combined with a user or a client-id"),
        ([("ip", "a.host")], "connection_creation_rate", 1.0,
         "the ip 'a.host' is no IP address. Use the address of the host: "
         "no host name but localhost is looked up"),
        (USER, "connection_creation_rate", 1.0,
         "this entity cannot have the quota 'connection_creation_rate': use producer_byte_rate, "
         "consumer_byte_rate, request_percentage, controller_mutation_rate"),
        (USER, PRODUCED, 0.0,
         "producer_byte_rate=0.0: a quota must be above 0; remove it for no limit"),
        (USER, PRODUCED, float("nan"),
         "producer_byte_rate=nan: a quota must be above 0; remove it for no limit"),
        (USER, PRODUCED, 1.5, "producer_byte_rate=1.5: it must be a whole number"),
        (USER, PRODUCED, 1e-320, "producer_byte_rate=1e-320: it must be a whole number"),
        (USER, PRODUCED, 1e30,
         "producer_byte_rate=1e+30: it must be at most 9223372036854775808"),
        ([("ip", "::1")], "connection_creation_rate", 3e9,
         "connection_creation_rate=3000000000.0: it must be at most 2147483647"),
    ],
)  # fmt: skip
def test_refused(cluster: Cluster, names: Names, key: str, value: float, reason: str) -> None:
    assert alter(cluster, entry(names, **{key: value})) == [("INVALID_REQUEST", reason)]
    assert quotas_by_entity(cluster.image) == {}


def test_more_records_than_a_request_may_write() -> None:
    settings = ControllerSettings(node_id=1, cluster_id=CLUSTER_ID, records_per_request_max=1)
    cluster = Cluster(settings)
    refused = ("POLICY_VIOLATION", TOO_MANY_RECORDS.replace("10000", "1"))
    entries = entry(USER, **{PRODUCED: 1.0}), entry(CLIENT, **{PRODUCED: 1.0})
    assert alter(cluster, *entries) == [refused, refused]
    assert quotas_by_entity(cluster.image) == {}


def test_descriptions(cluster: Cluster) -> None:
    for names in (USER, CLIENT, [*USER, *CLIENT], [("user", None)]):
        alter(cluster, entry(names, **{PRODUCED: 1.0}))

    def found(*conditions: tuple[str, int, str | None], strict: bool = False) -> list[str]:
        request = DescribeClientQuotasRequest([ComponentData(*each) for each in conditions], strict)
        answer = described_quotas(cluster.image, request)
        assert told(answer) == ("NONE", "")
        assert answer.entries is not None
        assert all([(each.key, each.value) for each in one.values] == [(PRODUCED, 1.0)]
                   for one in answer.entries)  # fmt: skip
        return sorted(
            " ".join(f"{part.entity_type}={part.entity_name}" for part in one.entity)
            for one in answer.entries
        )

    assert len(found()) == 4
    assert found(("user", EXACTLY, "u")) == ["client-id=c user=u", "user=u"]
    assert found(("user", EXACTLY, "u"), strict=True) == ["user=u"]
    assert found(("user", DEFAULT, None)) == ["user=None"]
    assert found(("user", ANY, None), ("client-id", ANY, None)) == ["client-id=c user=u"]

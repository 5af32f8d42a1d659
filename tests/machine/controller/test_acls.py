"""CreateAcls and DeleteAcls; codes and records are compared with Kafka's elsewhere."""

from __future__ import annotations

import pytest
from fencepost_broker.apis.security.acls import described_acls
from fencepost_broker.controller.ports import ControllerSettings
from fencepost_broker.metadata.image.changes import OtherChange
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.log.snapshot import read_snapshot, snapshot_records
from fencepost_broker.security.authorizer.acls import Acl, acl_of
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from fencepost_protocol.generated.describe_acls import DescribeAclsRequest

from tests.machine.controller.cluster import CLUSTER_ID, TOO_MANY_RECORDS, Cluster, told

READ = Acl(2, "t", 3, "User:a", "*", 3, 3)
WRITE = READ._replace(operation=4)
FINE = ("NONE", "")


@pytest.fixture
def cluster() -> Cluster:
    return Cluster().up(1)


def create(cluster: Cluster, *acls: Acl) -> list[tuple[str, str | None]]:
    answer = cluster.ask(CreateAclsRequest([AclCreation(*each) for each in acls]))
    return [told(each) for each in answer.results]


def delete(cluster: Cluster, *filters: tuple[str | None, int]) -> list[int]:
    wanted = [DeleteAclsFilter(2, name, 3, None, None, how, 1) for name, how in filters]
    answer = cluster.ask(DeleteAclsRequest(wanted))
    return [len(each.matching_acls) for each in answer.filter_results]


def entries(image: MetadataImage) -> list[Acl]:
    return sorted(map(acl_of, image.acls.by_id.values()))


def test_they_last_over_a_restart_and_a_snapshot(cluster: Cluster) -> None:
    assert create(cluster, READ, WRITE) == [FINE, FINE]
    assert entries(cluster.restarted().image) == [READ, WRITE]
    image = cluster.image
    again = read_snapshot(snapshot_records(image), image.last_offset)
    assert entries(again) == [READ, WRITE]
    assert delete(cluster, ("t", 4), ("t", 1), ("u", 1)) == [1, 2, 0]
    assert not cluster.restarted().image.acls.by_id


def test_each_is_answered_in_its_place(cluster: Cluster) -> None:
    wrong = READ._replace(principal="a")
    codes = [code for code, _ in create(cluster, READ, wrong, WRITE)]
    assert codes == ["NONE", "INVALID_REQUEST", "NONE"]
    [_, (_, words), _] = create(cluster, READ, wrong, WRITE)
    assert words is not None
    assert "User:a" in words


def test_what_is_for_filters_alone_is_no_entry(cluster: Cluster) -> None:
    wrong = [
        READ._replace(resource_type=1),
        READ._replace(pattern_type=1),
        READ._replace(pattern_type=2),
        READ._replace(operation=1),
        READ._replace(permission_type=1),
    ]
    assert {code for code, _ in create(cluster, *wrong)} == {"INVALID_REQUEST"}
    assert not cluster.image.acls.by_id


def test_a_broker_that_missed_much_hears_of_them(cluster: Cluster) -> None:
    before = Cluster().up(1).image
    create(cluster, READ)
    assert OtherChange.ACLS in list(before.differences(cluster.image))
    assert OtherChange.ACLS in list(cluster.image.differences(before))


def test_a_request_writes_so_many_records_and_no_more() -> None:
    settings = ControllerSettings(node_id=1, cluster_id=CLUSTER_ID, records_per_request_max=2)
    cluster = Cluster(settings)
    three = [READ, WRITE, READ._replace(host="h")]
    refused = ("POLICY_VIOLATION", TOO_MANY_RECORDS.replace("10000", "2"))
    assert create(cluster, *three) == [refused] * 3
    assert not cluster.image.acls.by_id
    assert create(cluster, READ, READ, WRITE) == [FINE] * 3
    assert create(cluster, READ._replace(host="h")) == [FINE]
    assert delete(cluster, (None, 1)) == [0]  # but told that there are too many
    assert len(cluster.image.acls.by_id) == 3


def test_a_description_has_an_entry_a_resource(cluster: Cluster) -> None:
    create(cluster, WRITE, READ, READ._replace(resource_name="s"))
    answer = described_acls(cluster.image, DescribeAclsRequest(1, None, 1, None, None, 1, 1))
    assert [(each.resource_name, len(each.acls)) for each in answer.resources] == [
        ("s", 1),
        ("t", 2),
    ]

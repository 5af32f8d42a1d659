"""UpdateFeatures, and the levels that a cluster starts with."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.controller.bootstrap import first_records
from fencepost_broker.metadata.features import SUPPORTED_FEATURES
from fencepost_protocol.generated.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

from tests.machine.controller.cluster import Cluster, told

TV = "transaction.version"
UP, SAFE, UNSAFE = 1, 2, 3


@pytest.fixture
def cluster() -> Cluster:
    return Cluster().up(1)


def update(
    cluster: Cluster, *updates: tuple[str, int, int], validate_only: bool = False
) -> UpdateFeaturesResponse:
    keys = [FeatureUpdateKey(name, level, False, kind) for name, level, kind in updates]
    request = UpdateFeaturesRequest(feature_updates=keys, validate_only=validate_only)
    response: UpdateFeaturesResponse = cluster.ask(request)
    return response


class TestUpdates:
    def test_down_and_up(self, cluster: Cluster) -> None:
        for level, kind in ((1, SAFE), (0, SAFE), (2, UP), (0, UNSAFE), (1, UP), (2, UP)):
            assert told(update(cluster, (TV, level, kind))) == ("NONE", None)
            assert cluster.image.features.levels.get(TV, 0) == level

    def test_the_level_that_it_has(self, cluster: Cluster) -> None:
        for kind in (UP, SAFE, UNSAFE):
            assert told(update(cluster, (TV, 2, kind))) == ("NONE", None)
            assert len(cluster.changes) == 1  # the epoch moves on

    def test_validation_alone_writes_nothing(self, cluster: Cluster) -> None:
        assert told(update(cluster, (TV, 1, SAFE), validate_only=True)) == ("NONE", None)
        assert cluster.image.features.levels[TV] == 2

    def test_results_are_named_until_version_1(self, cluster: Cluster) -> None:
        response = update(cluster, (TV, 2, UP), ("group.version", 1, UP))
        assert [each.feature for each in response.results] == [TV, "group.version"]
        for version in (0, 1, 2):
            response.encode(version, bytearray())

    def test_nothing_asked(self, cluster: Cluster) -> None:
        assert told(update(cluster)) == ("NONE", None)

    def test_the_last_of_two_counts(self, cluster: Cluster) -> None:
        assert told(update(cluster, (TV, 3, UP), (TV, 1, SAFE))) == ("NONE", None)
        assert cluster.image.features.levels[TV] == 1

    @pytest.mark.parametrize(
        ("name", "level", "kind", "reason"),
        [
            ("foo", 1, UP, "the controller does not know this feature"),
            ("", 1, UP, "the controller does not know this feature"),
            ("foo", 0, SAFE, "there is no such feature"),
            (TV, 3, UP, "the controller supports levels 0 to 2"),
            (TV, -1, UP, "the lowest level is 0 (off)"),
            (TV, 1, UP, "its level is 2; a downgrade needs upgrade type 2 (safe) or 3 (unsafe)"),
            (TV, 1, 0, "there is no upgrade type 0: use 1 (upgrade), 2 (safe downgrade) or 3 "
             "(unsafe downgrade)"),
            (TV, 2, 4, "there is no upgrade type 4: use 1 (upgrade), 2 (safe downgrade) or 3 "
             "(unsafe downgrade)"),
            ("metadata.version", 31, UP, "the controller supports level 30 only"),
            ("metadata.version", 29, SAFE, "the controller supports level 30 only"),
        ],
    )  # fmt: skip
    def test_refusals_are_of_all_or_nothing(
        self, cluster: Cluster, name: str, level: int, kind: int, reason: str
    ) -> None:
        response = update(cluster, (TV, 1, SAFE), (name, level, kind))
        code, message = told(response)
        assert code == "INVALID_UPDATE_VERSION"
        assert message == f"{name} cannot go to level {level}: {reason}; nothing was changed"
        assert response.results == []
        assert cluster.image.features.levels[TV] == 2

    def test_no_downgrade_to_a_newer_level(self, cluster: Cluster) -> None:
        update(cluster, (TV, 0, SAFE))
        for kind in (SAFE, UNSAFE):
            _, message = told(update(cluster, (TV, 2, kind)))
            assert message is not None
            assert "its level is 0; an upgrade needs upgrade type 1" in message

    def test_every_broker_must_support_the_level(self, cluster: Cluster) -> None:
        broker = cluster.image.cluster.brokers[1]
        only_1 = [each._replace(min_level=1) for each in broker.features]
        cluster.image.cluster.brokers[1] = broker._replace(features=tuple(only_1))
        cluster.check = False
        _, message = told(update(cluster, ("group.version", 0, SAFE)))
        assert message is not None
        assert "broker 1 supports level 1 only" in message
        cluster.image.cluster.brokers[1] = broker._replace(features=())
        _, message = told(update(cluster, ("group.version", 1, UP)))
        assert message is not None
        assert "broker 1 does not know this feature" in message


class TestFirstRecords:
    def test_highest_levels_the_metadatas_own_first(self) -> None:
        told: list[Any] = [each.message for each in first_records(None, 2)]
        *records, setting = told
        assert [(each.name, each.feature_level) for each in records] == [
            ("metadata.version", 30),
            ("eligible.leader.replicas.version", 1),
            ("group.version", 1),
            ("share.version", 1),
            ("streams.version", 1),
            ("transaction.version", 2),
        ]
        # By which it is judged who is eligible.
        assert (setting.name, setting.value) == ("min.insync.replicas", "2")

    def test_level_0_is_left_out(self) -> None:
        levels = {TV: 0, "eligible.leader.replicas.version": 0}
        image = Cluster(levels=levels).image
        ours = ("group.version", "share.version", "streams.version")
        assert image.features.levels == {"metadata.version": 30, **dict.fromkeys(ours, 1)}
        assert not image.configs.by_resource

    @pytest.mark.parametrize("levels", [{TV: 3}, {"metadata.version": 29}, {"nope": 1}])
    def test_what_is_not_supported(self, levels: dict[str, int]) -> None:
        with pytest.raises(ValueError, match=min(levels)):
            first_records(levels)

    def test_names_come_in_order(self) -> None:
        names = [feature.name for feature in SUPPORTED_FEATURES]
        assert names == sorted(names)

"""docs/reference/support.md lists all APIs of Apache Kafka 4.3."""

from __future__ import annotations

from fencepost_broker.apis.support_page import page


def test_the_last_one_that_is_not_served_is_the_last_that_there_is() -> None:
    assert page().rstrip().endswith("- AssignReplicasToDirs (73)")

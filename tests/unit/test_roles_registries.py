"""What a broker passes on is what a controller takes, and nothing that needs one is left out."""

from __future__ import annotations

from fencepost_broker.apis.registry import SERVED, served
from fencepost_broker.config import Settings

WHERE = {"controller.quorum.bootstrap.servers": "127.0.0.1:9093"}


def test_a_broker_by_itself_serves_the_same_and_passes_some_of_it_on() -> None:
    alone = served(Settings().with_overrides({"process.roles": "broker", **WHERE}))
    assert [each.key for each in alone] == [each.key for each in served(Settings())]
    assert {each.key for each in alone if each.is_passed_on} == {
        each.key for each in SERVED if each.by_controller
    }
    assert not any(each.is_passed_on for each in served(Settings()))

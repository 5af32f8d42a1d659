"""A bounded campaign; ``make campaign`` runs one for as long as you like."""

from __future__ import annotations

from tests.hostile.campaign import Campaign
from tests.support.up import Up

ROUNDS = 12


def test_no_request_breaks_the_broker_or_disturbs_others() -> None:
    with Up() as broker:
        campaign = Campaign(broker, seed=4)
        campaign.run(ROUNDS)
        broker.assert_healthy()
    assert campaign.outcomes["answered"] > 100
    assert campaign.outcomes["closed"] > 100

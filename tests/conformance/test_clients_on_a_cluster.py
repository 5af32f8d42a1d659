"""Exactly once while coordinators die, by a client that is not ours: the sample of a longer proof.

All clients and kinds of deaths: `make transform-cluster`.
"""

from typing import Final

import pytest

from tests.conformance.clients.clients import ClientUnavailableError
from tests.conformance.clients.cluster_legs import GROUP, REBALANCE, TRANSACTIONS
from tests.conformance.clients.cluster_rounds import run

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

PLAN: Final = ((TRANSACTIONS, "offsets"), (GROUP, REBALANCE))


def test_each_record_is_transformed_once_through_deaths_of_coordinators() -> None:
    try:
        [result] = run([("franz-go", "cooperative")], PLAN, seed=1)
    except ClientUnavailableError as error:
        pytest.skip(f"franz-go is not here: {error}")
    assert (result.lost, result.doubled, result.problem) == ([], [], "")
    assert result.records
    assert result.kills[TRANSACTIONS]
    assert result.kills[GROUP]

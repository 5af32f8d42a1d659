"""How long who is above a quota has to wait, and which quota that is."""

from __future__ import annotations

import pytest
from fencepost_broker.network.client_quotas import ClientQuotas
from fencepost_broker.observability.rates import WAIT_MS_MAX, Rate, Windows
from fencepost_protocol.generated.alter_client_quotas import AlterClientQuotasRequest

from tests.machine.controller.cluster import Cluster
from tests.support.client_quotas import PRODUCED, entry
from tests.support.objects import count_alive


def test_the_wait_brings_the_rate_down_to_the_quota() -> None:
    """20 KB at 1 KB/s are 10 s too much after the first 10 s, for which the windows stand."""
    rate = Rate(Windows())
    assert rate.wait_ms(1000, 0) == 0
    rate.add(10_000, 0)
    assert rate.wait_ms(1000, 0) == 0
    rate.add(10_000, 0)
    assert rate.wait_ms(1000, 0) == 10_000
    assert rate.wait_ms(1000, 500) == 9_500  # the window that is under way grows
    assert rate.wait_ms(1000, 1000) == 10_000  # and is one of ten from then on, as in Kafka
    assert rate.wait_ms(1000, 10_999) == 9_001
    assert rate.wait_ms(1000, 11_000) == 0  # it is over


def test_no_wait_is_longer_than_an_answer_can_tell() -> None:
    rate = Rate(Windows())
    rate.add(1, 0)
    assert rate.wait_ms(1e-320, 0) == WAIT_MS_MAX


def test_windows_go_one_by_one() -> None:
    rate = Rate(Windows())
    for second in range(20):
        rate.add(1000, second * 1000)
        assert rate.wait_ms(1100, second * 1000) == 0
    rate.add(5000, 20_000)
    assert rate.wait_ms(1000, 20_000) == 5_000
    assert not rate.forget(20_500)
    assert rate.forget(31_000)


def test_what_was_taken_back_does_not_count() -> None:
    rate = Rate(Windows())
    rate.add(50_000, 0)
    rate.add(-50_000, 0)
    assert rate.wait_ms(1000, 0) == 0


def test_a_clock_that_was_set_back_holds_nobody_up() -> None:
    rate = Rate(Windows())
    rate.add(50_000, 3_600_000)
    for second in range(20):
        rate.add(500, second * 1000)
        assert rate.wait_ms(1000, second * 1000) == 0


SET = {
    (("user", "u"), ("client-id", "c")): 1.0,
    (("user", "u"), ("client-id", None)): 2.0,
    (("user", "u"),): 3.0,
    (("user", None), ("client-id", "c")): 4.0,
    (("user", None), ("client-id", None)): 5.0,
    (("user", None),): 6.0,
    (("client-id", "c"),): 7.0,
    (("client-id", None),): 8.0,
}
"""From the most specific to the least."""


def quotas_of(cluster: Cluster) -> ClientQuotas:
    return ClientQuotas(cluster.image.client_quotas, Windows())


def test_the_most_specific_quota_counts() -> None:
    cluster = Cluster()
    for names, value in SET.items():
        cluster.ask(AlterClientQuotasRequest([entry(list(names), **{PRODUCED: value})]))
    for names, value in SET.items():
        quota = quotas_of(cluster).of(PRODUCED, "u", "c", 0)
        assert quota is not None
        assert quota.per_second == value
        cluster.ask(AlterClientQuotasRequest([entry(list(names), **{PRODUCED: None})]))
    assert quotas_of(cluster).of(PRODUCED, "u", "c", 0) is None
    assert not quotas_of(cluster).keys


@pytest.mark.parametrize(
    ("names", "other_shares"),
    [
        ([("user", "u")], True),
        ([("user", None)], True),
        ([("client-id", None)], False),
        ([("user", "u"), ("client-id", None)], False),
    ],
)
def test_who_shares_a_rate(names: list[tuple[str, str | None]], other_shares: bool) -> None:
    """What a quota names is limited: a user's has all client ids of that user together."""
    cluster = Cluster()
    cluster.ask(AlterClientQuotasRequest([entry(names, **{PRODUCED: 1000.0})]))
    quotas = quotas_of(cluster)
    mine, other = (quotas.of(PRODUCED, "u", client, 0) for client in ("a", "b"))
    assert mine is not None
    assert other is not None
    assert mine.charge(10_000, 0) == 0
    assert (other.charge(1000, 0) > 0) is other_shares
    quotas.refresh()  # a change of others' quotas does not begin rates anew
    again = quotas.of(PRODUCED, "u", "a", 0)
    assert again is not None
    assert again.charge(1000, 0) > 0


def test_many_rates_that_go_on_are_not_looked_through_for_each_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = count_alive(Rate)  # of other tests' brokers
    cluster = Cluster()
    cluster.ask(AlterClientQuotasRequest([entry([("client-id", None)], **{PRODUCED: 1000.0})]))
    quotas = quotas_of(cluster)
    looks = 0
    forget = Rate.forget

    def counted(rate: Rate, now_ms: int) -> bool:
        nonlocal looks
        looks += 1
        return forget(rate, now_ms)

    monkeypatch.setattr(Rate, "forget", counted)
    count = 4000
    for number in range(count):
        quota = quotas.of(PRODUCED, "u", str(number), 0)
        assert quota is not None
        quota.charge(1, 0)
    assert looks - 2 * count == 1000 + 2000, "whoever is charged looks at its own, too"
    assert quotas.of(PRODUCED, "u", "later", 1 << 30) is not None
    assert count_alive(Rate) <= others + 2, "those that are over are gone, unless somebody has one"

"""Options: names of any case, texts that become values, and what is refused."""

from __future__ import annotations

import pytest
from fencepost_client.config.kafka_names import CONSUMER_NAMES
from fencepost_pipeline.spark.options import OptionError, Options

KNOWN = ("subscribe", "maxOffsetsPerTrigger", "failOnDataLoss", "isolation")
BOOTSTRAP = {"kafka.bootstrap.servers": "h:1"}


def options(**given: str) -> Options:
    return Options(given | BOOTSTRAP, KNOWN, "the test", CONSUMER_NAMES, ("groupIdPrefix",))


def test_names_are_known_in_any_case_and_keep_their_own() -> None:
    found = options(MAXOFFSETSPERTRIGGER="10", subscribe="a,b")
    assert found.whole("maxOffsetsPerTrigger") == 10
    assert found.text("subscribe") == "a,b"
    assert "isolation" not in found


def test_settings_of_the_client_lose_their_prefix() -> None:
    found = Options(
        BOOTSTRAP | {"kafka.Sasl.Mechanism": "PLAIN"}, KNOWN, "the test", CONSUMER_NAMES
    )
    assert found.client == {"bootstrap.servers": "h:1", "sasl.mechanism": "PLAIN"}


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("subscibe", "'subscribe'"),
        ("maxOffsetPerTrigger", "'maxOffsetsPerTrigger'"),
        ("kafka.bootstrap.server", "'kafka.bootstrap.servers'"),
        ("bootstrap.servers", "'kafka.bootstrap.servers'"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(OptionError, match=rf"no option of the test; the nearest is {nearest}"):
        options(**{name: "x"})


def test_what_has_no_effect_here_is_taken() -> None:
    assert "groupIdPrefix" not in options(groupIdPrefix="spark")


def test_the_bootstrap_servers_have_to_be_there() -> None:
    with pytest.raises(OptionError, match=r"the test: kafka\.bootstrap\.servers is missing"):
        Options({}, KNOWN, "the test", CONSUMER_NAMES)


def test_values_that_make_no_sense_are_refused() -> None:
    found = options(maxOffsetsPerTrigger="ten", failOnDataLoss="maybe", isolation="serializable")
    with pytest.raises(OptionError, match="'ten': write a whole number"):
        found.whole("maxOffsetsPerTrigger")
    with pytest.raises(OptionError, match="'maybe': write true or false"):
        found.flag("failOnDataLoss", default=True)
    with pytest.raises(OptionError, match="can be read_committed, read_uncommitted"):
        found.choice("isolation", {"read_uncommitted", "read_committed"}, "read_committed")
    with pytest.raises(OptionError, match="it has to be at least 1"):
        options(maxOffsetsPerTrigger="0").whole("maxOffsetsPerTrigger", at_least=1)
    with pytest.raises(OptionError, match=r"subscribe is missing: \.option\('subscribe', 'orders'"):
        options().required("subscribe", "orders")


def test_defaults() -> None:
    found = options()
    assert found.whole("maxOffsetsPerTrigger", 5) == 5
    assert found.flag("failOnDataLoss", default=True)
    assert found.choice("isolation", {"a"}, "a") == "a"

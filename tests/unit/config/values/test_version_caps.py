"""``api.versions.max``: what it takes and what it refuses."""

from __future__ import annotations

import pytest
from fencepost_broker.config import Settings, SettingsError
from fencepost_broker.config.values.version_caps import parse_version_caps
from fencepost_protocol.generated.index import ApiKey


def test_versions_are_found_by_the_names_of_their_apis() -> None:
    assert parse_version_caps(()) == {}
    assert parse_version_caps(("TxnOffsetCommit:2", "produce:3")) == {
        ApiKey.TXN_OFFSET_COMMIT: 2,
        ApiKey.PRODUCE: 3,
    }


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("TxnOffsetCommit", "TxnOffsetCommit is not of the form API:VERSION"),
        ("TxnOffsetCommit:-1", "TxnOffsetCommit:-1 is not of the form API:VERSION"),
        ("TxnOffsetComit:2", "there is no API TxnOffsetComit; did you mean TxnOffsetCommit?"),
        ("Xyzzy:2", "there is no API Xyzzy"),
        ("TxnOffsetCommit:6", "TxnOffsetCommit has versions 0 to 5"),
        ("InitProducerId:6", "InitProducerId has versions 0 to 5"),
        ("Produce:2", "Produce has versions 3 to 13"),
        ("Fetch:" + "9" * 10_000, "Fetch has versions 4 to"),
        ("Fetch:5,fetch:6", "Fetch is given twice"),
    ],
)
def test_what_is_wrong_is_said(given: str, why: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Settings().with_overrides({"api.versions.max": tuple(given.split(","))})
    (problem,) = refused.value.problems
    assert why in problem
    assert "api.versions.max" in problem

"""The comparison with other tools names tests and acts that exist."""

from __future__ import annotations

import re

from fencepost_broker.faults.rule import ACTS

from tests.docs.pages import ROOT

PAGE = ROOT / "docs/explanation/faults-of-other-tools.md"


def test_the_named_tests_exist() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE.read_text(encoding="utf-8"))
    assert len(named) >= 15
    for path, test in named:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert not test or re.search(rf"def {test}\(", text), f"{path}::{test}"


def test_every_word_with_a_hyphen_is_an_act() -> None:
    tags = {str(act.__struct_config__.tag) for act in ACTS}
    named = set(re.findall(r"`([a-z]+-[a-z]+)`", PAGE.read_text(encoding="utf-8")))
    assert len(named) >= 4
    assert named <= tags

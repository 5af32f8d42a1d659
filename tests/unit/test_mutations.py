"""The campaign of mutations: it changes copies only, and each of its lines is in the sources."""

from __future__ import annotations

import shutil
from pathlib import Path

import fencepost_broker
import pytest
from fencepost_broker.simulation.runs import run_seed
from fencepost_broker.storage.log.producers import ProducerState

from tests.mutations.campaign import Found, StaleMutationError, apply, page
from tests.mutations.late_brokers import late_brokers
from tests.mutations.mutations import MUTATIONS, Mutation
from tests.mutations.power_cuts import power_cuts
from tests.mutations.zombies import zombies

PACKAGE = Path(fencepost_broker.__file__).parent


def copied(file: str, to: Path) -> Path:
    (to / file).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(PACKAGE / file, to / file)
    return to / file


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.guard)
def test_each_mutation_changes_a_copy(mutation: Mutation, tmp_path: Path) -> None:
    before = (PACKAGE / mutation.file).read_text()
    copy = copied(mutation.file, tmp_path)
    apply(mutation, tmp_path)
    assert copy.read_text() != before
    assert (PACKAGE / mutation.file).read_text() == before


def test_a_line_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    stale = MUTATIONS[0]._replace(old="no such line")
    copied(stale.file, tmp_path)
    with pytest.raises(StaleMutationError, match="no such line"):
        apply(stale, tmp_path)


def test_guards_have_different_names() -> None:
    assert len({each.guard for each in MUTATIONS}) == len(MUTATIONS) >= 40


def test_the_page_has_what_was_found_and_what_was_not() -> None:
    first, second = MUTATIONS[:2]
    text = page(
        [
            Found(first, "zombies", 1, "an | error", is_found=True),
            Found(second, "zombies", 9, "", is_found=False),
        ]
    )
    assert f"| {first.guard} | zombies | 1 | an \\| error |" in text
    assert "1 of 2" in text
    assert text.index("## Not found") < text.index(second.guard)


def test_zombies_are_refused() -> None:
    assert [run_seed(zombies, seed).verdict for seed in (0, 1)] == ["ok", "ok"]


def test_late_requests_between_brokers_are_refused() -> None:
    assert run_seed(late_brokers, 0).verdict == "ok"


def test_nothing_acknowledged_is_lost_without_power() -> None:
    assert run_seed(power_cuts, 0).verdict == "ok"


def test_a_batch_that_is_taken_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProducerState, "find_duplicate", lambda *_: None)
    assert "sent twice" in run_seed(zombies, 0).verdict

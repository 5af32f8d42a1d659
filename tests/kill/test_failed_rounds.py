"""A round that fails says which one it was, whatever it failed of; the others still run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kill import cluster_rounds, rounds, transaction_rounds
from tests.kill.matrix import run
from tests.kill.matrix.forms import FORMS, Size
from tests.kill.matrix.programs import SDK
from tests.support.cluster_processes import ClusterProcesses, View


class Stuck:
    """A round that waits in vain."""

    def __init__(self, *arguments: object, **options: object) -> None:
        pass

    def run(self) -> None:
        raise TimeoutError("nothing gets on")


@pytest.mark.parametrize(
    ("start", "name"),
    [
        (lambda folder: rounds.run_round("7/1"), "round 7/1"),
        (lambda folder: transaction_rounds.run_round("7/1", ["kill"]), "round 7/1 ['kill']"),
        (lambda folder: cluster_rounds.run_round("7/1", ["kill"]), "round 7/1 ['kill']"),
        (lambda folder: run.run_form(FORMS[0], SDK, Size(), folder), f"{FORMS[0]} {SDK}"),
    ],
    ids=["one broker", "transactions", "a cluster", "the matrix"],
)
def test_a_failure_names_its_round(
    start: Callable[[Path], object], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (rounds, transaction_rounds, cluster_rounds):
        monkeypatch.setattr(module, "Round", Stuck)
    monkeypatch.setattr(run, "Run", Stuck)
    with pytest.raises(TimeoutError, match="nothing gets on") as caught:
        start(tmp_path)
    assert caught.value.__notes__ == [f"in {name}"]


def test_the_rounds_after_a_failed_one_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster_rounds, "Round", Stuck)
    monkeypatch.setattr(sys, "argv", ["cluster_rounds", "--rounds", "2", "--seed", "7"])
    assert cluster_rounds.main() == 1
    said = capsys.readouterr().err
    assert "in round 7/0 " in said
    assert "in round 7/1 " in said


def test_a_cluster_that_does_not_settle_tells_what_a_broker_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def until(is_so: Callable[[], object], otherwise: str) -> None:
        is_so()
        raise TimeoutError(otherwise)

    class NoBrokers:
        brokers = topics = ()

    cluster = ClusterProcesses(tmp_path)
    monkeypatch.setattr(cluster, "view", lambda broker_id: View(NoBrokers))
    monkeypatch.setattr(cluster, "until", until)
    with pytest.raises(TimeoutError, match="says broker 1") as caught:
        cluster.until_settled()
    assert "unfenced: set()" in caught.value.__notes__[0]

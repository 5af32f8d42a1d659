"""Histories of a right broker have no findings; with one change, each has the right one."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
from fencepost_client.histories import Kind
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.histories.model import PLACES, STEPS, Model, run
from tests.histories.writing import Line, begun, judged, kinds, send

Draw = st.DataObject
ALWAYS_EXPECTED = {Kind.G0, Kind.G1A, Kind.UNSEEN_WRITE, Kind.SKIPPED_SEND}


@given(STEPS)
@settings(deadline=None)
def test_a_right_broker(steps: list[tuple[str, int, int, int]]) -> None:
    model = run(steps)
    report = judged(*model.lines)
    assert report.failed == []
    assert report.tallies.keys() <= ALWAYS_EXPECTED
    # Nothing depends on lines that say how a send began.
    fewer = [each for each in model.lines if each["op"] != "send" or each["type"] == "ok"]
    assert judged(*fewer).failed == []


def polls(model: Model, *readers: str) -> list[Line]:
    return [
        each
        for each in model.lines
        if each["op"] == "poll" and (each["process"] in readers or not readers)
    ]


def chosen(data: Draw, of: list[Line]) -> Line:
    assume(of)
    return data.draw(st.sampled_from(of))


def inner(model: Model, reader: str) -> list[tuple[str, int]]:
    """Values that a reader was given between two others of its last session, and where."""
    found: list[tuple[str, int]] = []
    for place in (0, 1):
        session: list[str] = []
        for line in model.lines:
            if line["process"] == reader and line.get("partition") == place:
                session = [] if line["op"] == "seek" else session + line["values"]
        found += [(value, place) for value in session[1:-1]]
    return found


def without(line: Line, value: str) -> None:
    index = line["values"].index(value)
    del line["values"][index], line["offsets"][index]


def is_visible(model: Model, place: int, value: str) -> bool:
    (record,) = (each for each in model.logs[PLACES[place]] if each.value == value)
    return model.ends.get(record.transaction) != "abort"


def loss(model: Model, data: Draw) -> None:
    """No reader is given a record."""
    given_out = inner(model, "rc")
    assume(given_out)
    value, _ = data.draw(st.sampled_from(given_out))
    for line in polls(model):
        if value in line["values"]:
            without(line, value)


def skip(model: Model, data: Draw) -> None:
    """One of two readers is not given a record."""
    given_out = inner(model, "rc2")
    assume(given_out)
    value, _ = data.draw(st.sampled_from(given_out))
    for line in polls(model, "rc2"):
        if value in line["values"]:
            without(line, value)


def swap(model: Model, data: Draw) -> None:
    """Two records of a poll change their places."""
    values = chosen(data, [each for each in polls(model) if len(each["values"]) > 1])["values"]
    values[0], values[1] = values[1], values[0]


def double(model: Model, data: Draw) -> None:
    """A value is in the log once more."""
    line = chosen(data, [each for each in polls(model, "rc") if each["values"]])
    last = len(model.logs[PLACES[line["partition"]]])
    again = {**line, "offsets": [last], "values": [line["values"][0]]}
    model.lines.append({**again, "high_watermark": last + 1, "last_stable_offset": last + 1})


def show_aborted(model: Model, data: Draw) -> None:
    """A read-committed reader is given an aborted record, where it is in the log."""
    aborted = [
        (place, offset, record.value)
        for place, name in enumerate(PLACES)
        for offset, record in enumerate(model.logs[name])
        if record.value and model.ends.get(record.transaction) == "abort"
    ]
    assume(aborted)
    place, offset, value = data.draw(st.sampled_from(aborted))
    line = polls(model, "rc")[place - 2]
    assume(line["offsets"][0] < offset)
    line["offsets"] = sorted([*line["offsets"], offset])
    line["values"].insert(line["offsets"].index(offset), value)


def repeat(model: Model, data: Draw) -> None:
    """A poll is answered twice."""
    line = chosen(data, [each for each in polls(model) if each["values"]])
    model.lines.insert(model.lines.index(line), copy.deepcopy(line))


def go_back(model: Model, data: Draw) -> None:
    """A high watermark is lower than the one before."""
    line = chosen(data, [each for each in polls(model) if each["values"]])
    line["high_watermark"] = line["last_stable_offset"] = line["offsets"][-1]


def reorder(model: Model, data: Draw) -> None:
    """Two sends of one producer get each other's offsets."""
    sends = [each for each in model.lines if each["op"] == "send" and each["type"] == "ok"]
    pairs = [
        (first, second)
        for first in sends
        for second in sends[sends.index(first) + 1 :]
        if (first["process"], first["partition"]) == (second["process"], second["partition"])
    ]
    assume(pairs)
    first, second = data.draw(st.sampled_from(pairs))
    first["offsets"][0], second["offsets"][0] = second["offsets"][0], first["offsets"][0]


def commit_late(model: Model, data: Draw) -> None:
    """A commit begins after a read-committed reader was given its records."""
    commits = [each for each in model.lines if each["op"] == "commit"]
    assume(commits)
    name = data.draw(st.sampled_from([each["transaction"] for each in commits]))
    late = [each for each in commits if each["transaction"] == name]
    model.lines = [each for each in model.lines if each not in late] + late


def zombie(model: Model, data: Draw) -> None:
    """A producer that was replaced sends once more."""
    replaced = [each for each in model.writers if each.life]
    assume(replaced)
    writer = data.draw(st.sampled_from(replaced))
    line = send(f"{writer.name}.{writer.life - 1}", PLACES[0], 1_000, "late")
    model.lines += [begun(line, 10_000), {**line, "id": 10_000}]


CHANGES: list[tuple[Callable[[Model, Draw], None], set[Kind]]] = [
    (loss, {Kind.LOST_WRITE}),
    (skip, {Kind.SKIPPED_POLL, Kind.G1B}),
    (swap, {Kind.INCONSISTENT_OFFSET}),
    (double, {Kind.DUPLICATE}),
    (show_aborted, {Kind.G1A}),
    (repeat, {Kind.NONMONOTONIC_POLL}),
    (go_back, {Kind.WATERMARK}),
    (reorder, {Kind.NONMONOTONIC_SEND}),
    (commit_late, {Kind.PRECOMMITTED_READ}),
    (zombie, {Kind.FENCED_WRITE}),
]


@pytest.mark.parametrize(("change", "found"), CHANGES, ids=[each.__name__ for each, _ in CHANGES])
@given(STEPS, st.data())
@settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
def test_one_change(
    change: Callable[[Model, Draw], None],
    found: set[Kind],
    steps: list[tuple[str, int, int, int]],
    data: Draw,
) -> None:
    model = run(steps)
    change(model, data)
    failed = kinds(judged(*model.lines))
    assert failed & found, f"{failed} and none of {found}"

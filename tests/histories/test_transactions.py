"""Histories with one anomaly each: transactions that were torn, read too early, or in circles."""

from __future__ import annotations

import pytest
from fencepost_client.histories import Kind

from tests.histories.writing import (
    Line,
    begun,
    circle,
    committed_offset,
    end,
    expected,
    judged,
    kinds,
    opened,
    poll,
    reader,
    send,
)

P, Q = "orders-0", "orders-1"
ABORTED = [send("w", P, 0, "a", transaction="t"), end("abort", "w", "t")]


def test_a_record_of_an_aborted_transaction_is_g1a() -> None:
    assert kinds(judged(reader(), *ABORTED, poll("r", P, (0, "a")))) == {"G1a"}
    report = judged(*ABORTED, poll("r", P, (0, "a")))
    assert report.holds
    assert expected(report) == {"G1a"}


@pytest.mark.parametrize(
    "lines",
    [
        [send("w", P, 0, "a", transaction="t")],
        [send("w", P, 0, "a", transaction="t"), end("commit", "w", "t", type="fail")],
        [send("w", P, 0, "a", transaction="t"), end("commit", "w", "t", type="info"), ABORTED[1]],
        [begun(send("w", P, -1, "a", transaction="t"), 1), end("abort", "w", "t")],
    ],
)
def test_a_transaction_without_a_commit_is_g1a(lines: list[Line]) -> None:
    assert kinds(judged(reader(), *lines, poll("r", P, (0, "a")))) == {"G1a"}


def test_a_record_whose_send_failed_is_g1a_for_each_reader() -> None:
    assert kinds(judged(send("w", P, -1, "a", type="fail"), poll("r", P, (0, "a")))) == {"G1a"}


def test_an_aborted_record_needs_no_reader() -> None:
    report = judged(reader(), *ABORTED, send("w", P, 2, "b"), poll("r", P, (2, "b")))
    assert report.findings() == []


def test_a_value_can_be_sent_again_after_an_abort() -> None:
    report = judged(
        reader(),
        *ABORTED,
        send("w", P, 2, "a", transaction="u"),
        end("commit", "w", "u"),
        poll("r", P, (2, "a")),
    )
    assert report.findings() == []
    wrong = judged(
        reader(),
        *ABORTED,
        send("w", P, 2, "a", transaction="u"),
        end("commit", "w", "u"),
        poll("r", P, (0, "a"), (2, "a")),
    )
    assert kinds(wrong) == {"G1a"}


def test_a_commit_without_an_answer_is_what_readers_saw() -> None:
    lines = [
        reader(),
        send("w", P, 0, "a", transaction="t"),
        send("w", Q, 0, "b", transaction="t"),
        begun(end("commit", "w", "t"), 1),
    ]
    assert judged(*lines, poll("r", P, (0, "a")), poll("r", Q, (0, "b"))).findings() == []
    assert judged(*lines, poll("r", P, (2, "x")), poll("r", Q, (2, "y"))).findings() == []


@pytest.mark.parametrize("outcome", ["ok", "info"])
def test_a_part_of_a_transaction_is_g1b(outcome: str) -> None:
    report = judged(
        reader(),
        send("w", P, 0, "a", transaction="t"),
        send("w", Q, 1, "b", transaction="t"),
        end("commit", "w", "t", type=outcome),
        send("w", Q, 0, "x"),
        send("w", Q, 3, "y"),
        poll("r", P, (0, "a")),
        poll("r", Q, (0, "x"), (3, "y")),
    )
    assert "G1b" in kinds(report)
    assert "r was given a part of transaction t, and not 'b' in orders-1 at offset 1" in str(report)


def test_g1b_is_no_skip() -> None:
    lines = [
        reader("r1"),
        reader("r2"),
        send("w", P, 0, "a", "b", transaction="t"),
        end("commit", "w", "t"),
        send("w", P, 3, "c"),
        poll("r1", P, (0, "a"), (1, "b"), (3, "c")),
        poll("r2", P, (0, "a"), (3, "c")),
    ]
    assert kinds(judged(*lines)) == {"G1b"}


def test_a_record_before_its_commit_began() -> None:
    commit = end("commit", "w", "t")
    sent = send("w", P, 0, "a", transaction="t")
    read = poll("r", P, (0, "a"))
    early = judged(reader(), sent, read, begun(commit, 1), {**commit, "id": 1})
    assert kinds(early) == {"precommitted-read"}
    assert judged(sent, read, begun(commit, 1), {**commit, "id": 1}).holds
    assert judged(reader(), sent, begun(commit, 1), read, {**commit, "id": 1}).holds
    # Without a line that says when it began, the commit may have been before the read.
    assert judged(reader(), sent, read, commit).holds


def test_a_commit_that_was_asked_for_twice_began_the_first_time() -> None:
    commit = end("commit", "w", "t")
    report = judged(
        reader(),
        send("w", P, 0, "a", transaction="t"),
        begun(commit, 1),
        {**commit, "id": 1, "type": "info"},
        poll("r", P, (0, "a")),
        begun(commit, 2),
        {**commit, "id": 2},
    )
    assert report.findings() == []


def test_what_is_certain_stays() -> None:
    lines = [send("w", P, 0, "a", "b", "c", transaction="t"), end("commit", "w", "t")]
    again = end("commit", "w", "t", type="info")
    assert "lost-write" in kinds(judged(*lines, again, poll("r", P, (0, "a"), (2, "c"))))


def transaction(name: str, *sends: Line) -> list[Line]:
    return [*({**line, "transaction": name} for line in sends), end("commit", "w" + name, name)]


def test_orders_of_writes_that_contradict_each_other_are_g0() -> None:
    lines = [
        *transaction("1", send("w1", P, 0, "a"), send("w1", Q, 1, "b")),
        *transaction("2", send("w2", P, 1, "c"), send("w2", Q, 0, "d")),
    ]
    report = judged(*lines)
    assert report.holds
    assert "G0" in expected(report)
    finding = judged(*lines, strict=True).findings(Kind.G0)[0]
    assert sorted(finding.steps) == ["1", "2"]
    assert sorted(finding.edges) == ["writes orders-0 0, 1", "writes orders-1 0, 1"]
    read = [
        poll("w1", "other-0", (0, "x"), transaction="1"),
        *transaction("3", send("w3", "other-0", 0, "x")),
    ]
    assert "G1c" not in expected(judged(*lines, *read))
    in_order = [
        *transaction("1", send("w1", P, 0, "a"), send("w1", Q, 0, "b")),
        *transaction("2", send("w2", P, 1, "c"), send("w2", Q, 1, "d")),
    ]
    assert "G0" not in expected(judged(*in_order))


def test_transactions_that_read_from_each_other_are_g1c() -> None:
    report = judged(*circle(isolation="read_committed"))
    assert kinds(report) == {"G1c"}
    assert report.tallies[Kind.G1C].unexpected == 1
    assert sorted(report.findings()[0].edges) == ["reads orders-0 0", "reads orders-1 0"]
    lenient = judged(*circle(isolation="read_uncommitted"))
    assert lenient.holds
    assert expected(lenient) == {"G1c"}
    assert lenient.findings()[0].expected == "its reader is read_uncommitted"
    aborted = [*circle(isolation="read_committed")[:-1], end("abort", "w2", "2")]
    assert "G1c" not in kinds(judged(*aborted))


def test_offsets_that_a_transaction_commits_say_what_it_has_read() -> None:
    lines = [
        opened("r1", isolation="read_committed", group="g"),
        send("w1", P, 0, "a", transaction="1"),
        send("w2", Q, 0, "b", transaction="2"),
        committed_offset("w1", Q, 1, transaction="1"),
        committed_offset("w2", P, 1, transaction="2"),
        end("commit", "w1", "1"),
        end("commit", "w2", "2"),
    ]
    assert kinds(judged(*lines)) == {"G1c"}
    assert kinds(judged(*lines[1:])) == set()


def test_a_circle_with_an_order_of_writes_is_expected() -> None:
    """1 wrote before 2 in P, and read what 2 wrote to Q."""
    lines = [
        reader("w1"),
        send("w1", P, 0, "a", transaction="1"),
        send("w2", P, 1, "b", transaction="2"),
        send("w2", Q, 0, "c", transaction="2"),
        end("commit", "w2", "2"),
        poll("w1", Q, (0, "c"), transaction="1"),
        end("commit", "w1", "1"),
    ]
    report = judged(*lines)
    assert report.holds
    assert "G1c" in expected(report)


@pytest.mark.parametrize(
    "late",
    [
        send("w1", P, 5, "late", transaction="t"),
        end("commit", "w1", "t"),
        committed_offset("w1", P, 1, transaction="t"),
    ],
)
def test_a_writer_that_was_fenced_and_goes_on(late: Line) -> None:
    lines = [
        opened("w1", transactional_id="id"),
        opened("w2", transactional_id="id"),
        begun(late, 1),
    ]
    assert kinds(judged(*lines, {**late, "id": 1})) == {"fenced-write"}
    assert judged(*lines, {**late, "id": 1, "type": "fail"}).holds
    # It began before the other one took its id.
    assert judged(lines[0], lines[2], lines[1], {**late, "id": 1}).holds
    other = [lines[0], opened("w2", transactional_id="other"), lines[2]]
    assert judged(*other, {**late, "id": 1}).holds


def test_of_two_that_open_at_the_same_time_none_is_known_to_be_fenced() -> None:
    first, second = opened("w1", transactional_id="id"), opened("w2", transactional_id="id")
    late = send("w1", P, 5, "late")
    lines = [begun(first, 1), begun(second, 1), {**first, "id": 1}, {**second, "id": 1}]
    assert judged(*lines, begun(late, 2), {**late, "id": 2}).holds

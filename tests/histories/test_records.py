"""Histories with one anomaly each: records that were lost, doubled or read in a wrong order."""

from __future__ import annotations

import pytest
from fencepost_client.histories import Kind

from tests.histories.writing import (
    begun,
    expected,
    judged,
    kinds,
    opened,
    poll,
    reader,
    send,
)

P = "orders-0"


def test_a_history_in_which_all_is_right() -> None:
    report = judged(reader(), send("w", P, 0, "a", "b"), poll("r", P, (0, "a"), (1, "b")))
    assert report.holds
    assert report.findings() == []


def test_an_acknowledged_record_that_readers_passed_is_lost() -> None:
    report = judged(send("w", P, 0, "a", "b", "c"), poll("r", P, (0, "a"), (2, "c")))
    assert kinds(report) == {"lost-write"}
    assert "'b' to orders-0 at offset 1" in report.findings()[0].text


def test_a_loss_is_expected_without_acks_from_all() -> None:
    report = judged(
        opened("w", acks="1"), send("w", P, 0, "a", "b", "c"), poll("r", P, (0, "a"), (2, "c"))
    )
    assert report.holds
    assert expected(report) == {"lost-write"}


def test_what_is_before_the_first_and_after_the_last_read_is_unseen() -> None:
    lines = (send("w", P, 0, "a", "b", "c"), poll("r", P, (1, "b")))
    report = judged(*lines)
    assert report.holds
    assert report.tallies.keys() == {"unseen-write"}
    assert report.tallies[Kind.UNSEEN_WRITE].expected == 2
    assert kinds(judged(*lines, strict=True)) == {"unseen-write"}


def test_a_send_that_failed_or_whose_outcome_is_unknown_cannot_be_lost() -> None:
    report = judged(
        send("w", P, -1, "a", type="fail"),
        send("w", P, -1, "b", type="info"),
        begun(send("w", P, -1, "c"), 1),
        send("w", P, 0, "d", "e"),
        poll("r", P, (0, "d"), (1, "e")),
    )
    assert report.findings() == []


def test_a_record_whose_send_was_never_answered_may_be_there() -> None:
    report = judged(
        begun(send("w", P, -1, "a"), 1),
        poll("r", P, (0, "a"), (1, "b")),
        {"op": "crash", "process": "w"},
        send("x", P, 1, "b"),
    )
    assert report.findings() == []


def test_a_value_twice_in_the_log_is_a_duplicate() -> None:
    report = judged(send("w", P, 0, "a"), poll("r", P, (0, "a"), (1, "a")))
    assert kinds(report) == {"duplicate"}
    assert "'a' was sent once and is at orders-0 offset 0 and at orders-0 offset 1" in str(report)


def test_a_duplicate_in_another_partition() -> None:
    assert kinds(judged(send("w", P, 0, "a"), poll("r", "orders-1", (5, "a")))) == {"duplicate"}


def test_duplicates_are_expected_of_producers_that_are_not_idempotent() -> None:
    report = judged(
        opened("w", idempotent=False), send("w", P, 0, "a"), poll("r", P, (0, "a"), (1, "a"))
    )
    assert report.holds
    assert expected(report) == {"duplicate"}


def test_a_value_that_is_sent_twice_may_be_there_twice() -> None:
    report = judged(
        send("w", P, -1, "a", type="info"),
        send("w", P, 1, "a"),
        poll("r", P, (0, "a"), (1, "a")),
    )
    assert report.findings() == []


def test_as_many_as_were_sent_may_be_there() -> None:
    sends = [send("w", P, -1, "a", type="info")] * 2
    assert judged(*sends, poll("r", P, (0, "a"), (1, "a"))).findings() == []
    three = poll("r", P, (0, "a"), (1, "a"), (2, "a"))
    assert kinds(judged(*sends, three)) == {"duplicate"}


@pytest.mark.parametrize("second", [poll("r", P, (0, "b")), send("x", P, 0, "b")])
def test_two_values_at_one_offset(second: dict[str, object]) -> None:
    report = judged(send("w", P, 0, "a"), second)
    assert "inconsistent-offset" in kinds(report)
    assert "orders-0 offset 0 is 'a' and 'b'" in report.findings()[-1].text + str(report)


def test_of_two_records_at_one_offset_the_one_that_nobody_reads_is_lost() -> None:
    sends = [send("w", P, 0, "a"), send("x", P, 0, "b")]
    for read in ("a", "b"):
        report = judged(*sends, poll("r", P, (0, read)))
        assert kinds(report) == {"inconsistent-offset", "lost-write"}
        (lost,) = report.findings(Kind.LOST_WRITE)
        assert repr("b" if read == "a" else "a") in lost.text
    both = judged(*sends, poll("r", P, (0, "a")), poll("s", P, (0, "b")))
    assert kinds(both) == {"inconsistent-offset"}


def test_two_sends_that_got_one_offset() -> None:
    assert kinds(judged(send("w", P, 0, "a"), send("x", P, 0, "a"))) == {"inconsistent-offset"}


def test_offsets_of_a_producer_that_go_back() -> None:
    lines = [send("w", P, 5, "a"), send("w", P, 3, "b")]
    assert kinds(judged(*lines)) == {"nonmonotonic-send"}
    assert expected(judged(opened("w", idempotent=False), *lines)) >= {"nonmonotonic-send"}
    assert judged(send("w", P, 5, "a"), send("x", P, 3, "b")).holds


def test_sends_are_in_the_order_in_which_they_began() -> None:
    first, second = send("w", P, 0, "a"), send("w", P, 1, "b")
    answered_late = [begun(first, 1), begun(second, 2), {**second, "id": 2}, {**first, "id": 1}]
    assert judged(*answered_late).holds
    swapped = [begun(second, 2), begun(first, 1), {**second, "id": 2}, {**first, "id": 1}]
    assert kinds(judged(*swapped)) == {"nonmonotonic-send"}


def test_offsets_within_a_send() -> None:
    line = send("w", P, 0, "a", "b")
    assert kinds(judged({**line, "offsets": [1, 0]})) == {"nonmonotonic-send"}
    gap = {**line, "offsets": [0, 2]}
    assert judged(gap).holds
    assert "skipped-send" in kinds(judged(gap, strict=True))


def test_an_offset_that_a_consumer_is_given_again() -> None:
    lines = [
        send("w", P, 0, "a", "b"),
        poll("r", P, (0, "a"), (1, "b")),
        poll("r", P, (1, "b")),
    ]
    assert kinds(judged(*lines)) == {"nonmonotonic-poll"}
    for again in ({"op": "assign"}, {"op": "seek", "topic": "orders", "partition": 0}):
        report = judged(*lines[:2], {**again, "process": "r"}, lines[2])
        assert report.findings() == []


def test_a_record_that_only_one_of_two_consumers_is_given() -> None:
    lines = [
        send("w", P, 0, "a", "b", "c"),
        poll("r1", P, (0, "a"), (1, "b"), (2, "c")),
        poll("r2", P, (0, "a"), (2, "c")),
    ]
    report = judged(*lines)
    assert kinds(report) == {"skipped-poll"}
    assert "r2 was given orders-0 offset 2 after offset 0, and not 'b' at 1" in str(report)
    seek = {"op": "seek", "process": "r2", "topic": "orders", "partition": 0, "offset": 2}
    assert judged(*lines[:2], seek, poll("r2", P, (2, "c"))).findings() == []


def test_a_process_that_starts_again_begins_anew() -> None:
    begins = begun(send("w", P, -1, "x"), 1)
    lines = [send("w", P, 0, "a"), poll("w", P, (0, "a")), begins]
    crash = {"op": "crash", "process": "w"}
    assert judged(*lines, crash, poll("w", P, (0, "a")), begins).findings() == []


def test_a_record_that_a_read_committed_reader_has_seen_is_there() -> None:
    lines = [
        send("w", P, -1, "b", type="info"),
        poll("r1", P, (0, "a"), (1, "b"), (2, "c")),
        poll("r2", P, (0, "a"), (2, "c")),
    ]
    assert judged(*lines).holds
    assert kinds(judged(reader("r1"), *lines)) == {"skipped-poll"}


def test_a_seek_is_where_a_consumer_may_not_skip() -> None:
    seek = {"op": "seek", "process": "r2", "topic": "orders", "partition": 0, "offset": 0}
    lines = [send("w", P, 0, "a", "b"), poll("r1", P, (0, "a"), (1, "b")), poll("r2", P, (1, "b"))]
    assert judged(*lines).holds
    assert kinds(judged(seek, *lines)) == {"skipped-poll"}


def test_a_seek_says_where_reading_begins() -> None:
    seek = {"op": "seek", "process": "r", "topic": "orders", "partition": 0, "offset": 0}
    lines = [send("w", P, 0, "a", "b"), poll("r", P, (1, "b"))]
    assert expected(judged(*lines)) == {"unseen-write"}
    assert kinds(judged(lines[0], seek, lines[1])) == {"lost-write"}


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ({"high_watermark": 5}, {"high_watermark": 4}, "the high watermark went back: 5, 4"),
        ({"last_stable_offset": 5}, {"last_stable_offset": 4}, "last stable offset went back"),
        ({}, {"high_watermark": 3, "last_stable_offset": 4}, "above the high watermark 3"),
        ({}, {"high_watermark": 1}, "offset 1 was given out, and the end was 1"),
        ({}, {"high_watermark": 2, "last_stable_offset": 1}, "and the end was 1"),
    ],
)
def test_watermarks(first: dict[str, int], second: dict[str, int], text: str) -> None:
    report = judged(
        reader(),
        send("w", P, 0, "a", "b"),
        poll("r", P, **first),
        poll("r", P, (0, "a"), (1, "b"), **second),
    )
    assert kinds(report) == {"watermark"}
    assert text in str(report)
    right = {"high_watermark": 2, "last_stable_offset": 2}
    assert judged(reader(), poll("r", P, **right), poll("r", P, (1, "b"), **right)).holds

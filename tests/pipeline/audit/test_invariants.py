"""Every invariant fails alone on a log that was doctored for it, and none on a clean one."""

from __future__ import annotations

import gc

import pytest
from fencepost_pipeline.audit.audit_run import Audit, Wishes, audit
from fencepost_pipeline.audit.checks.consume_transform_produce import Transform
from fencepost_pipeline.audit.findings import Invariant, Status
from fencepost_protocol.records.batch import read_header
from fencepost_protocol.records.control import build_end_txn_marker

from tests.pipeline.audit.harness import alone, failing
from tests.pipeline.audit.memory_logs import MemoryLogs, marker_of, patched
from tests.pipeline.audit.rewriting import (
    commit_as_a_spark_query,
    rewrite_commits,
    rewrite_key,
)
from tests.pipeline.audit.traffic import GROUP, INVOICES, ORDERS

WISHES = Wishes(transform=Transform(GROUP, ORDERS, INVOICES))


@pytest.mark.parametrize("rows_at_once", [1, 3, 10_000])
def test_a_clean_log_passes(
    logs: MemoryLogs, rows_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost_pipeline.audit.batch_headers.CHUNK_ROWS", rows_at_once)
    logs.rows_at_once = rows_at_once
    found = audit(logs, WISHES)
    assert gc.isenabled(), "again"
    assert failing(found) == {}
    judged = {v.invariant: v.checked for v in found.verdicts if v.status is Status.HOLDS}
    assert set(judged) == set(Invariant) - {Invariant.ACKNOWLEDGED}
    assert all(judged[each] > 0 for each in judged), judged


# -- doctored logs ----------------------------------------------------------------------------


PAIRS_0 = "pairs", 0
ORDERS_0 = "orders", 0
STATE = "__transaction_state"


def data_of(logs: MemoryLogs, place: tuple[str, int], epoch: int) -> list[int]:
    """The numbers of an epoch's data batches."""
    return [
        number
        for number, header in enumerate(logs.headers(place))
        if not header.is_control and header.producer_epoch == epoch
    ]


def markers_of(logs: MemoryLogs, place: tuple[str, int], kind: str) -> list[int]:
    return [i for i, batch in enumerate(logs.places[place]) if marker_of(batch) == kind]


def test_a_batch_that_was_lost_is_a_gap(logs: MemoryLogs) -> None:
    logs.remove(ORDERS_0, 1)
    (text,) = alone(audit(logs), Invariant.GAPS)
    offset = logs.headers(ORDERS_0)[1].base_offset
    assert text.startswith(f"orders-0 offset {offset} ")
    assert "that are missing" in text


def test_a_first_batch_that_was_lost_is_a_gap(logs: MemoryLogs) -> None:
    logs.remove(ORDERS_0, 0)
    (text,) = alone(audit(logs), Invariant.GAPS)
    assert text.startswith("orders-0 offset 0 ")
    assert "are its first here" in text
    assert "made anew" in text, "what looks the same"


def test_an_epoch_that_does_not_begin_at_zero_is_a_gap(logs: MemoryLogs) -> None:
    number = data_of(logs, PAIRS_0, 1)[0]
    logs.remove(PAIRS_0, number)
    (text,) = alone(audit(logs), Invariant.GAPS)
    assert "begin a new epoch, 1 are missing" in text


def test_what_compaction_took_is_no_gap(logs: MemoryLogs) -> None:
    del logs.places[ORDERS_0][1]
    found = audit(logs)
    assert failing(found) == {}
    verdict = next(v for v in found.verdicts if v.invariant is Invariant.GAPS)
    assert verdict.notes == ["1 x numbers missing where offsets are missing, too"]


def test_a_gap_larger_than_what_compaction_took_is_one(logs: MemoryLogs) -> None:
    del logs.places[ORDERS_0][1]
    held = logs.places[ORDERS_0]
    offset = logs.headers(ORDERS_0)[0].last_offset + 2  # one offset is missing, not all
    for number, header in list(enumerate(logs.headers(ORDERS_0)))[1:]:
        logs.patch(ORDERS_0, number, base_offset=offset)
        offset += header.last_offset_delta + 1
    assert len(held) > 2
    alone(audit(logs), Invariant.GAPS)


def test_a_log_cut_by_retention_is_clean(logs: MemoryLogs) -> None:
    for place in (ORDERS_0, PAIRS_0):
        del logs.places[place][:3]
    assert failing(audit(logs)) == {}


def test_a_pause_behind_the_expiry_explains_a_gap(logs: MemoryLogs) -> None:
    logs.remove(ORDERS_0, 1)
    for number, header in list(enumerate(logs.headers(ORDERS_0)))[1:]:
        logs.patch(ORDERS_0, number, max_timestamp=header.max_timestamp + 86_400_001)
    assert failing(audit(logs)) == {}
    alone(audit(logs, Wishes(expiry_ms=200_000_000)), Invariant.GAPS)


def test_a_batch_that_was_written_again_is_a_duplicate(logs: MemoryLogs) -> None:
    logs.insert(ORDERS_0, 3, logs.places[ORDERS_0][1])
    (text,) = alone(audit(logs), Invariant.DUPLICATES)
    assert text.startswith(f"orders-0 offset {logs.headers(ORDERS_0)[3].base_offset} ")


@pytest.mark.parametrize("rows_at_once", [1, 2, 10_000])
def test_sequences_wrap(
    logs: MemoryLogs, rows_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole producer is moved, so that its numbers pass 2^31 in the middle."""
    monkeypatch.setattr("fencepost_pipeline.audit.batch_headers.CHUNK_ROWS", rows_at_once)
    logs.rows_at_once = rows_at_once
    headers = logs.headers(ORDERS_0)
    shift = (1 << 31) - headers[1].base_sequence - 2
    before = patched(logs.places[ORDERS_0][0], base_sequence=0, last_offset_delta=shift - 1)
    for number, header in enumerate(headers):
        logs.patch(ORDERS_0, number, base_sequence=(header.base_sequence + shift) % (1 << 31))
    logs.insert(ORDERS_0, 0, before)
    assert max(header.last_sequence for header in logs.headers(ORDERS_0)[-2:]) < 1000
    assert failing(audit(logs)) == {}
    logs.insert(ORDERS_0, 4, logs.places[ORDERS_0][2])
    alone(audit(logs), Invariant.DUPLICATES)


def test_a_write_of_an_old_epoch_is_a_zombies(logs: MemoryLogs) -> None:
    """An idempotent producer's second epoch, and then its first one again."""
    last = logs.headers(ORDERS_0)[-1]
    batch = logs.places[ORDERS_0][-1]
    new = patched(batch, producer_epoch=last.producer_epoch + 1, base_sequence=0)
    old = patched(batch, base_sequence=last.last_sequence + 1)
    logs.places[ORDERS_0] += [new, old]
    logs.renumber(ORDERS_0)
    (text,) = alone(audit(logs), Invariant.ZOMBIES)
    assert "writes after epoch" in text
    assert f"offset {logs.headers(ORDERS_0)[-1].base_offset}" in text


def test_a_record_behind_its_marker_is_too_late(logs: MemoryLogs) -> None:
    """Under transaction version 2: the marker's epoch is above the record's."""
    number = markers_of(logs, PAIRS_0, "abort")[0]
    batch = logs.places[PAIRS_0][number - 1]
    header = read_header(batch)
    assert logs.headers(PAIRS_0)[number].producer_epoch == header.producer_epoch + 1
    late = patched(batch, base_sequence=header.last_sequence + 1)
    logs.insert(PAIRS_0, number + 1, late)
    (text,) = alone(audit(logs), Invariant.LATE)
    assert "behind the marker" in text


def test_a_missing_marker_is_found_by_the_coordinators_log(logs: MemoryLogs) -> None:
    number = markers_of(logs, PAIRS_0, "commit")[1]
    logs.remove(PAIRS_0, number)
    (text,) = alone(audit(logs), Invariant.UNMARKED)
    assert "no commit marker here" in text
    assert f"pairs-0 offset {logs.headers(PAIRS_0)[number - 2].base_offset} to" in text


def test_what_is_open_and_unknown_to_any_coordinator_hangs(logs: MemoryLogs) -> None:
    stranger = patched(logs.places[PAIRS_0][0], producer_id=999, producer_epoch=0, base_sequence=0)
    logs.places[PAIRS_0].append(stranger)
    logs.renumber(PAIRS_0)
    (text,) = alone(audit(logs), Invariant.UNMARKED)
    assert "no coordinator has it open" in text


def test_a_marker_without_a_transaction(logs: MemoryLogs) -> None:
    number = markers_of(logs, PAIRS_0, "commit")[-1]
    stranger = patched(logs.places[PAIRS_0][number], producer_id=999, producer_epoch=3)
    logs.places[PAIRS_0].append(stranger)
    logs.renumber(PAIRS_0)
    (text,) = alone(audit(logs), Invariant.ORPHANS)
    assert "the commit marker of producer 999 epoch 3" in text


def test_a_marker_that_was_written_again_is_fine(logs: MemoryLogs) -> None:
    number = markers_of(logs, PAIRS_0, "abort")[0]
    logs.insert(PAIRS_0, number + 1, logs.places[PAIRS_0][number])
    assert failing(audit(logs)) == {}


@pytest.mark.parametrize("kind", ["commit", "abort"])
def test_markers_that_disagree(logs: MemoryLogs, kind: str) -> None:
    number = markers_of(logs, PAIRS_0, kind)[0]
    header = logs.headers(PAIRS_0)[number]
    logs.places[PAIRS_0][number] = bytes(
        build_end_txn_marker(
            committed=kind == "abort",
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            coordinator_epoch=0,
            timestamp_ms=header.max_timestamp,
            base_offset=header.base_offset,
        )
    )
    logs.reindex(PAIRS_0)
    (text,) = alone(audit(logs), Invariant.ATOMIC)
    assert f"the coordinator decided {kind}" in text


def test_offsets_that_fall(logs: MemoryLogs) -> None:
    header = logs.headers(ORDERS_0)[2]
    logs.patch(ORDERS_0, 2, base_offset=header.base_offset - 1)
    # The batch behind it leaves no hole, so that nothing else is wrong.
    (text,) = alone(audit(logs), Invariant.OFFSETS)
    assert f"offset {header.base_offset - 1}" in text


def test_a_wrong_checksum_is_told_and_the_rest_audited(logs: MemoryLogs) -> None:
    batch = bytearray(logs.places[ORDERS_0][1])
    batch[-2] ^= 1
    logs.places[ORDERS_0][1] = bytes(batch)
    found = audit(logs)
    (text,) = alone(found, Invariant.READABLE)
    assert text.startswith(f"orders-0 offset {logs.headers(ORDERS_0)[1].base_offset} ")
    assert text.endswith("the checksum of the batch is wrong")
    assert sum(s.summary.batches for s in found.partitions) > 50


def test_a_missing_index_entry_shows_aborted_records(logs: MemoryLogs) -> None:
    del logs.indexes[PAIRS_0][0]
    (text,) = alone(audit(logs), Invariant.STABLE)
    assert "does not hide it" in text


def test_a_wrong_stable_offset(logs: MemoryLogs) -> None:
    entry = logs.indexes[PAIRS_0][0]
    logs.indexes[PAIRS_0][0] = entry._replace(stable_offset=entry.stable_offset + 1)
    (text,) = alone(audit(logs), Invariant.STABLE)
    assert f"became {entry.stable_offset}; " in text


def test_an_index_entry_of_nothing_hides_what_was_committed(logs: MemoryLogs) -> None:
    marker = logs.headers(PAIRS_0)[markers_of(logs, PAIRS_0, "commit")[0]]
    entry = logs.indexes[PAIRS_0][0]
    logs.indexes[PAIRS_0].insert(
        0, entry._replace(first_offset=0, last_offset=marker.base_offset, stable_offset=9)
    )
    (text,) = alone(audit(logs), Invariant.STABLE)
    assert "no transaction was aborted like that" in text


def test_blocks_that_overlap(logs: MemoryLogs) -> None:
    assert logs.notes
    last = logs.notes[-1]
    logs.notes.append(last._replace(offset=last.offset + 10, broker_id=2))
    (text,) = alone(audit(logs), Invariant.BLOCKS)
    assert "the block of broker 2 ends at id 1000, but ids up to 999" in text


def test_an_id_that_is_in_no_block(logs: MemoryLogs) -> None:
    headers = logs.headers(ORDERS_0)
    for number in range(len(headers)):
        logs.patch(ORDERS_0, number, producer_id=5000)
    (text,) = alone(audit(logs), Invariant.BLOCKS)
    assert text.startswith("orders-0 offset 0: producer id 5000 is used")


def test_consumed_without_output(logs: MemoryLogs) -> None:
    """One invoice is another one's second: one input has none, another has two."""
    rewrite_key(logs, ("invoices", 0), b"id-4", b"id-6")
    texts = alone(audit(logs, WISHES), Invariant.OUTPUTS)
    assert any("id id-4: group billing has committed it" in text for text in texts)
    assert any("id id-6: there is more than one output" in text for text in texts)


def test_output_without_offsets(logs: MemoryLogs) -> None:
    """The last offset committed for a partition of the input falls back by one."""
    rewrite_commits(logs, back_by=1)
    texts = alone(audit(logs, WISHES), Invariant.CONSUMED)
    assert any("its input is after what group billing has committed" in text for text in texts)


def test_a_program_that_is_not_here_is_not_judged(logs: MemoryLogs) -> None:
    """A misspelt name must not look like something that holds."""
    both = (Invariant.OUTPUTS, Invariant.CONSUMED)
    for wrong, why in (
        (Transform(GROUP, "order", INVOICES), "there is no log of order here"),
        (Transform(GROUP, ORDERS, "invoice"), "there is no log of invoice here"),
    ):
        found = audit(logs, Wishes(transform=wrong))
        assert failing(found) == {}
        for verdict in found.verdicts:
            if verdict.invariant in both:
                assert verdict.status is Status.NOT_JUDGED
                assert why in verdict.notes[0]
    stranger = audit(logs, Wishes(transform=Transform("biling", ORDERS, INVOICES)))
    assert set(failing(stranger)) == {Invariant.CONSUMED}
    notes = {verdict.invariant: verdict.notes for verdict in stranger.verdicts}
    assert "group biling has committed nothing of orders" in notes[Invariant.CONSUMED][0]
    for place in [place for place in logs.places if place[0] == "__consumer_offsets"]:
        del logs.places[place]
    assert failing(audit(logs, WISHES)) == {}, "the offsets are on another broker"


# -- a Spark query, whose group has a marker instead of offsets ---------------------------------

ALL_READ = '{"orders": {"0": 20, "1": 20}, "#ids": {"orders": "abc"}}'
BOTH = Invariant.OUTPUTS, Invariant.CONSUMED


def of_both(found: Audit) -> dict[Invariant, tuple[Status, int, list[str]]]:
    return {
        v.invariant: (v.status, v.checked, v.notes) for v in found.verdicts if v.invariant in BOTH
    }


@pytest.mark.parametrize("sources", [ALL_READ, f"-\n17\n{ALL_READ}"], ids=["one", "several"])
def test_a_spark_query_is_judged_by_its_marker(logs: MemoryLogs, sources: str) -> None:
    commit_as_a_spark_query(logs, sources)
    found = audit(logs, WISHES)
    assert failing(found) == {}
    assert of_both(found) == dict.fromkeys(BOTH, (Status.HOLDS, 40, []))


def test_a_spark_query_whose_output_is_ahead_of_its_marker(logs: MemoryLogs) -> None:
    commit_as_a_spark_query(logs, ALL_READ.replace('"1": 20', '"1": 19'))
    (text,) = alone(audit(logs, WISHES), Invariant.CONSUMED)
    assert "id id-39: its input is after what group billing has committed" in text


def test_a_spark_query_without_an_output(logs: MemoryLogs) -> None:
    commit_as_a_spark_query(logs, ALL_READ)
    rewrite_key(logs, ("invoices", 0), b"id-4", b"id-6")
    texts = alone(audit(logs, WISHES), Invariant.OUTPUTS)
    assert len(texts) == 2


def test_a_marker_that_does_not_say_what_was_read(logs: MemoryLogs) -> None:
    """Then the last input with an output ends what is looked at: a hole before it still shows."""
    commit_as_a_spark_query(logs, None)
    found = audit(logs, WISHES)
    assert failing(found) == {}
    status, checked, notes = of_both(found)[Invariant.CONSUMED]
    assert status is Status.NOT_JUDGED
    assert "does not say what its Spark query has read" in notes[0]
    status, checked, notes = of_both(found)[Invariant.OUTPUTS]
    assert (status, checked) == (Status.HOLDS, 40)
    rewrite_key(logs, ("invoices", 0), b"id-4", b"id-6")
    texts = alone(audit(logs, WISHES), Invariant.OUTPUTS)
    assert any("id id-4: " in text for text in texts)
    assert any("id id-6: there is more than one output" in text for text in texts)


def test_a_spark_query_of_another_topic_is_not_judged(logs: MemoryLogs) -> None:
    commit_as_a_spark_query(logs, '{"payments": {"0": 20}}')
    found = audit(logs, WISHES)
    assert failing(found) == {}
    for status, checked, notes in of_both(found).values():
        assert (status, checked) == (Status.NOT_JUDGED, 0)
        assert 'do not name orders: {"payments": {"0": 20}}' in notes[0]

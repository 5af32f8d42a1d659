"""Which unmodified clients meet which scenario, and in which test.

Each scenario has two clients, or a reason why there is one only. A test named ``READ`` shows the
failure by what a reader gets; others show an error or a behaviour of the client itself.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fencepost_broker.server.scenarios import SCENARIOS

READ = "test_what_happens_and_what_clients_read"
OFFSETS = "test_offsets_that_readers_see"
OTHERS = {"aiokafka", "librdkafka"}


def both(test: str) -> dict[str, str]:
    """The same test has both clients."""
    return dict.fromkeys(OTHERS, test)


def each(aiokafka: str, librdkafka: str) -> dict[str, str]:
    """Each has a test of its own."""
    return {"aiokafka": aiokafka, "librdkafka": librdkafka}


MET: dict[str, dict[str, str]] = {
    "late-end-txn": both(READ),
    "late-end-txn-version-2": both(READ),
    "commit-after-time-out": both("test_a_commit_after_the_time_out"),
    "expired-transactional-id": both("test_a_transaction_after_a_pause_of_eight_days"),
    "markers-that-never-come": both(READ),
    "unstable-offset-commit": {
        "librdkafka": "test_librdkafka_gets_no_offset_while_one_is_unstable"
    },
    "hanging-transaction": both("test_readers_stop_at_a_hanging_transaction"),
    "gaps-by-compaction": both(OFFSETS),
    "empty-transaction": both("test_an_empty_transaction_is_committed_without_end_txn"),
    "empty-transaction-version-2": both("test_an_empty_transaction_is_committed_without_end_txn"),
    "lost-commit-answer": both("test_a_lost_answer_to_a_commit_has_one_outcome"),
    "coordinator-dies-in-prepare-commit": both("test_producers_go_on_with_the_next_coordinator"),
    "self-fencing": both("test_concurrent_transactions_is_outlasted"),
    "epoch-exhaustion": both("test_a_producer_with_used_up_epochs_gets_another_producer_id"),
    "slow-producer-ids": both("test_producers_wait_for_the_next_producer_ids"),
    "unknown-producer-id": both(
        "test_aiokafka_raises_unknown_producer_id_and_librdkafka_sends_again"
    ),
    "aborted-records-only": both(OFFSETS),
    "log-ends-in-a-marker": both(OFFSETS),
    "duplicate-after-lost-answer": both("test_a_lost_answer_makes_a_duplicate"),
    "no-duplicate-with-idempotence": both("test_a_lost_answer_makes_a_duplicate"),
    "out-of-order-sequence": both("test_a_batch_is_missing"),
    "large-batch-refused": both("test_a_large_batch_is_refused"),
    "zombie-member-commits": each(
        "test_aiokafka_learns_by_its_commit_that_it_was_expelled",
        "test_librdkafka_learns_by_its_commit_that_it_was_expelled",
    ),
    "static-member-replaced": each(
        "test_aiokafka_is_told_that_another_has_its_instance_id",
        "test_librdkafka_ends_when_another_has_its_instance_id",
    ),
    "offset-out-of-range": each(
        "test_aiokafka_raises_offset_out_of_range_without_a_reset",
        "test_librdkafka_tells_offset_out_of_range_without_a_reset",
    ),
    "rebalance-storm": each(
        "test_each_rebalance_stops_aiokafka", "test_each_rebalance_stops_librdkafka"
    ),
    "stuck-cooperative-rebalance": each(
        "test_a_new_aiokafka_gets_nothing_while_the_other_hangs_in_a_callback",
        "test_a_new_librdkafka_gets_nothing_while_the_other_does_not_revoke",
    ),
    "leader-epoch-fenced": each(
        "test_aiokafka_reads_on_when_the_leader_moves",
        "test_librdkafka_is_fenced_by_its_leader_epoch_and_reads_on",
    ),
    "half-a-cluster-behind-a-cut": each(
        "test_aiokafka_sends_to_the_half_that_it_reaches",
        "test_librdkafka_sends_to_the_half_that_it_reaches",
    ),
    "metadata-that-lies": both("test_producers_outlast_metadata_that_lie"),
    "throttled-client": both("test_a_client_with_a_quota_waits"),
    "acl-taken-away": both("test_a_right_is_taken_away"),
    "disk-full-at-the-leader": each(
        "test_aiokafka_sends_again_until_there_is_room",
        "test_librdkafka_sends_again_until_there_is_room",
    ),
    "clock-jumps-back": both("test_readers_wait_for_as_long_as_the_clock_was_set_back"),
    "expired-certificate": each(
        "test_aiokafka_notices_an_expired_certificate_when_it_connects",
        "test_librdkafka_notices_an_expired_certificate_when_it_connects",
    ),
    "password-changed": each(
        "test_aiokafka_is_refused_when_it_connects_with_the_old_password",
        "test_librdkafka_is_refused_when_its_login_expires",
    ),
}
NOT_FELT = {
    ("unstable-offset-commit", "aiokafka"): "it sends OffsetFetch below version 7, which has no"
    " stable offsets: it reads the offset of before",
}
"""Why a client does not meet a scenario."""


def test_each_scenario_is_met_by_two_clients() -> None:
    assert MET.keys() == SCENARIOS.keys()
    excused = {(name, client) for name, met in MET.items() for client in OTHERS - met.keys()}
    assert excused == NOT_FELT.keys()


@pytest.mark.parametrize("name", MET)
def test_the_tests_are_there(name: str) -> None:
    texts = [each.read_text() for each in Path(__file__).parent.glob("test_scenarios*.py")]
    written = set(re.findall(r"def (test_\w+)", "\n".join(texts)))
    assert set(MET[name].values()) <= written

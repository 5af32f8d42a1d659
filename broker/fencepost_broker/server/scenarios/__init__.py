"""Failures that Kafka's users meet, each made to happen on purpose."""

from __future__ import annotations

from typing import Final

from fencepost_broker.server.scenarios import (
    awkward_ends,
    changed_password,
    clock_jumps_back,
    clusters,
    commit_after_time_out,
    disk_full,
    expired_certificate,
    expired_transactional_id,
    group_members,
    hanging_transaction,
    large_batch_refused,
    late_end_txn,
    lost_produce_answer,
    markers_that_never_come,
    offset_gaps,
    out_of_order_sequence,
    producer_ids,
    rebalances,
    refused_clients,
    transaction_ends,
    unstable_offset_commit,
)
from fencepost_broker.server.scenarios.scenario import Scenario

SCENARIOS: Final[dict[str, Scenario]] = {
    each.name: each
    for each in (
        late_end_txn.VERSION_1,
        late_end_txn.VERSION_2,
        commit_after_time_out.SCENARIO,
        expired_transactional_id.SCENARIO,
        markers_that_never_come.SCENARIO,
        unstable_offset_commit.SCENARIO,
        hanging_transaction.SCENARIO,
        offset_gaps.SCENARIO,
        transaction_ends.EMPTY_1,
        transaction_ends.EMPTY_2,
        transaction_ends.LOST_ANSWER,
        transaction_ends.DYING_COORDINATOR,
        producer_ids.SELF_FENCING,
        producer_ids.EXHAUSTION,
        producer_ids.SLOW_BLOCK,
        producer_ids.UNKNOWN_PRODUCER,
        awkward_ends.ABORTED,
        awkward_ends.MARKER,
        lost_produce_answer.WITHOUT,
        lost_produce_answer.WITH,
        out_of_order_sequence.SCENARIO,
        large_batch_refused.SCENARIO,
        group_members.ZOMBIE,
        group_members.REPLACED,
        group_members.OUT_OF_RANGE,
        rebalances.STORM,
        rebalances.STUCK,
        clusters.FENCED,
        clusters.HALF,
        refused_clients.WRONG_LEADER,
        refused_clients.THROTTLED,
        refused_clients.DENIED,
        disk_full.SCENARIO,
        clock_jumps_back.SCENARIO,
        expired_certificate.SCENARIO,
        changed_password.SCENARIO,
    )
}

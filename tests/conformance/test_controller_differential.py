"""Apache Kafka's controller and ours get the same requests: same answers, same records.

One running Kafka serves all groups of cases; each group begins where the one before it ended.
What differs on purpose:

- messages are in our words: compared is whether there is one (`controller_peer.presence`);
- Kafka gives the results of some requests in an order of its own (compared sorted);
- an IncrementalAlterConfigs with an unknown operation makes Kafka's controller step down, and an
  AlterConfigs with a resource twice is never answered: ours refuses both with INVALID_REQUEST;
- so does an AlterPartition with an unknown recovery state, with the same answer here;
- more partitions than one request may make are UNKNOWN_SERVER_ERROR from Kafka's
  CreatePartitions: ours says POLICY_VIOLATION, as CreateTopics does;
- a SCRAM user with an empty password is UNKNOWN_SERVER_ERROR from Kafka, and a quota of NaN is
  stored: ours refuses them with UNACCEPTABLE_CREDENTIAL and INVALID_REQUEST;
- an ACL whose type, pattern, operation or permission is one for filters alone is
  UNKNOWN_SERVER_ERROR from Kafka: ours refuses it with INVALID_REQUEST (not asked here);
- Kafka looks up names of hosts that quotas are for: ours takes addresses alone;
- Kafka keeps who is no replica any more eligible to lead (KIP-966), judges all partitions of a
  topic by the first one's replicas, and forgets who is eligible also where nobody is in sync: what
  was committed may be lost by that, or nobody may lead again (not asked here);
- a broker that is fenced already and wants to shut down gets another record from Kafka;
- a broker in controlled shutdown that leads nothing more may go at once: Kafka waits until the
  other brokers have read that in the metadata log; and its next incarnation may come at once:
  Kafka lets the session run out first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from fencepost_protocol.errors import ErrorCode

from tests.conformance import access_cases, replica_cases, throttling_cases
from tests.conformance import controller_cases as cases
from tests.conformance.cluster_action_cases import (
    OF_BROKER,
    OF_CONTROLLER,
    SESSION,
    WANTS_SESSION,
    answers,
    expected,
)
from tests.conformance.controller_peer import Case, KafkaSide, OurSide
from tests.conformance.envelope_cases import CASES
from tests.support.apache_kafka import KafkaUnavailableError
from tests.support.secure_kafka import OTHER_USERS, PASSWORD, USER, KafkaWithUsers, plain_module
from tests.support.up import WITHOUT_PORT, Up, Wire

pytestmark = pytest.mark.conformance

SETTINGS = {
    "broker.session.timeout.ms": "3600000",  # brokers that are nothing but numbers stay
    "metadata.max.idle.interval.ms": "0",  # no NoOpRecord in between
    # ACLs can be set, and hinder nobody here.
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}

A_WINDOW_MS = 1000
"""The window that is under way counts as a whole one at its end."""


@pytest.fixture(scope="module")
def sides() -> Iterator[tuple[KafkaSide, OurSide]]:
    try:
        with KafkaWithUsers(SETTINGS) as kafka:
            yield KafkaSide(kafka), OurSide()
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    "group",
    [
        cases.creations,
        cases.deletions,
        cases.growths,
        cases.topic_alterations,
        cases.broker_alterations,
        cases.feature_updates,
        cases.allocations,
        cases.registrations,
        cases.elections,
        replica_cases.in_sync_changes,
        replica_cases.reassignments,
        replica_cases.unclean_elections,
        replica_cases.eligible_leaders,
        replica_cases.without_eligible_leaders,
        access_cases.quota_changes,
        access_cases.quota_descriptions,
        access_cases.scram_changes,
        access_cases.acl_changes,
    ],
    ids=lambda group: group.__name__,
)
def test_the_same_answers_and_records(
    sides: tuple[KafkaSide, OurSide], group: Callable[[], Iterator[tuple[str, Case]]]
) -> None:
    kafka, ours = sides
    different = []
    asked = 0
    for label, case in group():
        asked += 1
        expected, found = kafka.compared(case), ours.compared(case)
        for what, theirs, mine in zip(("answer", "records"), expected, found, strict=True):
            if theirs != mine:
                different.append(f"{label}: {what}\n  Kafka {theirs}\n  ours  {mine}")
    assert asked > 5
    assert not different, "\n".join([f"{len(different)} of {asked} differ:", *different])


@pytest.mark.parametrize("seed", range(4))
def test_who_leads_and_who_might(sides: tuple[KafkaSide, OurSide], seed: int) -> None:
    """Brokers fall and rise, replicas fall behind and move, in an order that nobody thought of."""
    kafka, ours = sides
    begin = [each for _, each in replica_cases.up(80, 81, 82)]
    begin.append(cases.create(cases.by_hand("r", (0, [80, 81, 82]))))
    steps = [
        *map(replica_cases.always, begin),
        *replica_cases.random_steps(seed, 100),
        replica_cases.always(cases.delete("r")),
    ]
    for number, step in enumerate(steps):
        case = step(ours.cluster.image)
        expected, found = kafka.compared(case), ours.compared(case)
        assert found == expected, f"step {number}: {case(ours)}\nours {found}\nKafka {expected}"


def test_envelopes_are_refused_as_ours_are(sides: tuple[KafkaSide, OurSide]) -> None:
    """Ours is asked in `tests/wire/test_envelopes.py`."""
    found = {}
    for label, (envelope, _) in CASES.items():
        with Wire(sides[0].kafka.controller_port) as wire:
            found[label] = ErrorCode(wire.ask(envelope, 0).error_code)
    assert found == {label: code for label, (_, code) in CASES.items()}


def test_only_brokers_may_ask_what_brokers_ask(sides: tuple[KafkaSide, OurSide]) -> None:
    """Ours is asked in `tests/wire/test_cluster_action.py`."""
    kafka = sides[0].kafka
    assert isinstance(kafka, KafkaWithUsers)
    found = answers(kafka.controller_login_port, OF_CONTROLLER, USER, PASSWORD)
    found |= answers(kafka.login_port, OF_BROKER, USER, PASSWORD)
    assert found[WANTS_SESSION].session_id == SESSION
    found[WANTS_SESSION].session_id = 0
    assert found == expected(OF_CONTROLLER) | expected(OF_BROKER)


def test_clients_are_throttled_alike(sides: tuple[KafkaSide, OurSide]) -> None:
    kafka = sides[0].kafka
    assert isinstance(kafka, KafkaWithUsers)
    settings = (
        "listeners=PLAINTEXT://127.0.0.1:0,LOGIN://127.0.0.1:0",
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms=PLAIN",
        f"listener.name.login.plain.sasl.jaas.config={plain_module(*OTHER_USERS)}",
    )
    words = [word for each in settings for word in ("-c", each)]
    with Up(*words, command=WITHOUT_PORT) as ours:
        found = [*throttling_cases.throttled(ours.port)]
        login_port = int(ours.told["listeners"]["LOGIN"].rpartition(":")[2])
        found += throttling_cases.throttled_users(ours.port, login_port, OTHER_USERS, PASSWORD)
    expected = [*throttling_cases.throttled(kafka.port)]
    expected += throttling_cases.throttled_users(
        kafka.port, kafka.login_port, OTHER_USERS, PASSWORD
    )
    for theirs, mine in zip(expected, found, strict=True):
        assert abs(theirs - mine) < A_WINDOW_MS, (expected, found)

"""Registration, heartbeats, sessions and what they do to the partitions' leaders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fencepost_broker.controller.bootstrap import first_heartbeat, registration
from fencepost_broker.controller.ports import ControllerSettings
from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.features import ELIGIBLE_LEADERS
from fencepost_broker.metadata.image.model import Endpoint
from fencepost_broker.metadata.log.records import encode_record
from fencepost_protocol.generated.begin_transaction_record import BeginTransactionRecord
from fencepost_protocol.generated.broker_heartbeat import BrokerHeartbeatRequest
from fencepost_protocol.generated.broker_registration import Feature
from fencepost_protocol.generated.topic_record import TopicRecord
from fencepost_protocol.generated.unregister_broker import UnregisterBrokerRequest

from tests.machine.controller.cluster import CLUSTER_ID, NODE_ID, Cluster, code_of, told
from tests.machine.controller.harness import led, partition, place

SESSION_MS = 9000
ENDPOINT = Endpoint("PLAINTEXT", "localhost", 9092)


def ask_to_register(cluster: Cluster, **changes: Any) -> str:
    request = registration(5, CLUSTER_ID, b"i" * 16, [ENDPOINT], [b"d" * 16])
    return code_of(cluster.ask(replace(request, **changes)))


class TestRegistration:
    def test_the_epoch_is_the_records_offset(self) -> None:
        cluster = Cluster()
        offset = cluster.image.next_offset
        assert cluster.register(1) == offset
        broker = cluster.image.cluster.brokers[1]
        assert (broker.epoch, broker.fenced) == (offset, True)
        assert broker.endpoints == (Endpoint("PLAINTEXT", "localhost", 9001),)

    def test_asking_again_keeps_epoch_and_state(self) -> None:
        cluster = Cluster().up(1)
        epoch = cluster.image.cluster.brokers[1].epoch
        place(cluster, [1])
        assert cluster.register(1) == epoch
        assert not cluster.image.cluster.brokers[1].fenced
        assert led(cluster) == (1, 0, (1,))

    def test_asking_again_within_a_session(self) -> None:
        cluster = Cluster().up(1, 2)
        assert cluster.register(2) == cluster.image.cluster.brokers[2].epoch
        assert not cluster.image.cluster.brokers[2].fenced
        assert cluster.controller.deadline() == SESSION_MS

    def test_another_incarnation_leads_nothing_until_it_is_up(self) -> None:
        cluster = Cluster().up(1)
        place(cluster, [1])
        epoch = cluster.register(1, incarnation=1)
        assert cluster.image.cluster.brokers[1].epoch == epoch
        assert led(cluster) == (-1, 1, ())
        cluster.ask(first_heartbeat(cluster.image, 1))
        assert led(cluster) == (1, 2, (1,))

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"cluster_id": "another"}, "INCONSISTENT_CLUSTER_ID"),
            ({"log_dirs": []}, "INVALID_REGISTRATION"),
            ({"log_dirs": [b"x" * 16] * 2}, "INVALID_REGISTRATION"),
            ({"log_dirs": [bytes(15) + b"\x63"]}, "INVALID_REGISTRATION"),
            ({"log_dirs": [bytes(15) + b"\x64"]}, "NONE"),
            ({"log_dirs": [bytes([1]) * 15 + b"d"]}, "INVALID_REGISTRATION"),
            ({"broker_id": -1}, "INVALID_REGISTRATION"),
            ({"features": []}, "INVALID_REGISTRATION"),
            ({"features": [Feature("metadata.version", 7, 29)]}, "UNSUPPORTED_VERSION"),
            ({"features": [Feature("metadata.version", 7, 30)]}, "UNSUPPORTED_VERSION"),
            ({"listeners": []}, "NONE"),
            ({}, "NONE"),
        ],
        ids=str,
    )
    def test_who_is_let_in(self, changes: dict[str, Any], code: str) -> None:
        cluster = Cluster().up(1)
        assert ask_to_register(cluster, **changes) == code

    def test_an_id_in_use_is_not_given_away_before_its_session_is_over(self) -> None:
        cluster = Cluster().up(1, 5)
        assert ask_to_register(cluster) == "DUPLICATE_BROKER_REGISTRATION"
        cluster.now_ms += SESSION_MS - 1
        assert ask_to_register(cluster) == "DUPLICATE_BROKER_REGISTRATION"
        cluster.now_ms += 1
        assert ask_to_register(cluster) == "NONE"
        assert ask_to_register(cluster, incarnation_id=b"j" * 16) == "NONE"  # fenced so far

    def test_unregister(self) -> None:
        cluster = Cluster().up(1, 2)
        place(cluster, [2, 1])
        assert told(cluster.ask(UnregisterBrokerRequest(2))) == ("NONE", "")
        assert led(cluster) == (1, 1, (1,))
        assert list(cluster.image.cluster.brokers) == [1]
        message = "broker 2 is not registered"
        answer = cluster.ask(UnregisterBrokerRequest(2))
        assert told(answer) == ("BROKER_ID_NOT_REGISTERED", message)


class TestHeartbeats:
    def test_who_has_not_read_its_registration_stays_fenced(self) -> None:
        cluster = Cluster()
        epoch = cluster.register(1)
        answer = cluster.ask(BrokerHeartbeatRequest(1, epoch, epoch - 1))
        assert (answer.is_caught_up, answer.is_fenced) == (False, True)
        answer = cluster.ask(BrokerHeartbeatRequest(1, epoch, epoch, want_fence=True))
        assert (answer.is_caught_up, answer.is_fenced) == (True, True)
        answer = cluster.ask(BrokerHeartbeatRequest(1, epoch, epoch))
        assert (answer.is_caught_up, answer.is_fenced) == (True, False)
        assert not cluster.image.cluster.brokers[1].fenced
        answer = cluster.ask(BrokerHeartbeatRequest(1, epoch, 0))
        assert (answer.is_caught_up, answer.is_fenced) == (False, False)

    @pytest.mark.parametrize(("broker_id", "epoch"), [(1, -1), (1, 99), (9, 0)])
    def test_of_nobody(self, broker_id: int, epoch: int) -> None:
        cluster = Cluster().up(1)
        answer = cluster.ask(BrokerHeartbeatRequest(broker_id, epoch, 100))
        assert code_of(answer) == "STALE_BROKER_EPOCH"
        assert (answer.is_caught_up, answer.is_fenced) == (False, True)

    def test_a_steady_one_writes_nothing(self) -> None:
        cluster = Cluster().up(1)
        before = len(cluster.log)
        cluster.heartbeat(1)
        assert len(cluster.log) == before

    def test_fence_and_back(self) -> None:
        cluster = Cluster().up(1, 2)
        place(cluster, [2, 1], [1, 2])
        place(cluster, [2], topic="u")
        assert cluster.heartbeat(2, fence=True).is_fenced
        assert (led(cluster, 0), led(cluster, 1)) == ((1, 1, (1,)), (1, 0, (1,)))
        assert led(cluster, topic="u") == (-1, 1, ())
        assert not cluster.heartbeat(2).is_fenced
        assert (led(cluster, 0), led(cluster, 1)) == ((1, 1, (1,)), (1, 0, (1,)))
        assert led(cluster, topic="u") == (2, 2, (2,))

    def test_a_controlled_shutdown_moves_leaders_first(self) -> None:
        cluster = Cluster().up(1, 2)
        place(cluster, [2, 1])
        answer = cluster.heartbeat(2, shut_down=True)
        assert (answer.is_fenced, answer.should_shut_down) == (False, False)
        assert cluster.image.cluster.brokers[2].in_controlled_shutdown
        assert led(cluster) == (1, 1, (1,))
        answer = cluster.heartbeat(2, shut_down=True)
        assert (answer.is_fenced, answer.should_shut_down) == (True, True)
        assert cluster.image.cluster.brokers[2].fenced
        before = len(cluster.log)
        assert cluster.heartbeat(2, shut_down=True).should_shut_down
        assert len(cluster.log) == before

    def test_it_cannot_be_taken_back(self) -> None:
        cluster = Cluster().up(1, 2)
        place(cluster, [2, 1])
        cluster.heartbeat(2, shut_down=True)
        answer = cluster.heartbeat(2)
        assert (answer.is_fenced, answer.should_shut_down) == (True, True)

    def test_nor_turned_into_a_mere_fencing(self) -> None:
        cluster = Cluster().up(1, 2)
        place(cluster, [2, 1])
        cluster.heartbeat(2, shut_down=True)
        assert cluster.heartbeat(2, fence=True).should_shut_down

    def test_the_next_incarnation_need_not_wait_for_the_sessions_end(self) -> None:
        cluster = Cluster().up(1, 2)
        assert cluster.heartbeat(2, shut_down=True).should_shut_down
        cluster.register(2, incarnation=1)

    def test_who_leads_nothing_may_go_at_once(self) -> None:
        cluster = Cluster().up(1, 2)
        answer = cluster.heartbeat(2, shut_down=True)
        assert (answer.is_fenced, answer.should_shut_down) == (True, True)
        cluster.up(2)
        answer = cluster.heartbeat(2, shut_down=True, fence=True)
        assert (answer.is_fenced, answer.should_shut_down) == (True, True)

    def test_without_eligible_leaders_the_last_in_sync_stays_in_sync(self) -> None:
        cluster = Cluster(levels={ELIGIBLE_LEADERS: 0}).up(1)
        place(cluster, [1])
        cluster.heartbeat(1, shut_down=True)
        assert led(cluster) == (-1, 1, (1,))
        assert partition(cluster).partition_epoch == 1


class TestUnclean:
    @pytest.mark.parametrize("by", ["topic", "broker"])
    def test_where_it_is_allowed_a_stale_replica_leads(self, by: str) -> None:
        settings = ControllerSettings(
            NODE_ID, CLUSTER_ID, unclean_leader_election_enable=by == "broker"
        )
        cluster = Cluster(settings).up(1, 2)
        configs = {"unclean_leader_election_enable": " TRUE"} if by == "topic" else {}
        place(cluster, [2, 1], **configs)
        cluster.heartbeat(1, fence=True)
        assert led(cluster) == (2, 0, (2,))
        cluster.heartbeat(2, fence=True)
        assert led(cluster) == (-1, 1, ())
        cluster.heartbeat(1)
        assert led(cluster) == (1, 2, (1,))
        assert partition(cluster).leader_recovery_state == 1

    def test_nobody_is_pushed_aside(self) -> None:
        cluster = Cluster().up(1, 2)
        place(cluster, [2, 1], unclean_leader_election_enable="true")
        cluster.heartbeat(1, fence=True)
        cluster.heartbeat(1)
        assert led(cluster) == (2, 0, (2,))

    def test_a_topic_may_forbid_it(self) -> None:
        settings = ControllerSettings(NODE_ID, CLUSTER_ID, unclean_leader_election_enable=True)
        cluster = Cluster(settings).up(1, 2)
        place(cluster, [2, 1], unclean_leader_election_enable="false")
        cluster.heartbeat(1, fence=True)
        cluster.heartbeat(2, fence=True)
        before = len(cluster.log)
        cluster.heartbeat(1)
        assert led(cluster) == (-1, 1, ())
        assert len(cluster.log) == before + 1


class TestSessions:
    def test_silence_fences(self) -> None:
        cluster = Cluster().up(1, 2)
        place(cluster, [2, 1])
        assert cluster.controller.deadline() == SESSION_MS
        for ms, fenced in ((SESSION_MS - 1, False), (1, True)):
            cluster.advance(ms)
            assert cluster.image.cluster.brokers[2].fenced is fenced
        assert led(cluster) == (1, 1, (1,))
        assert cluster.controller.deadline() is None

    def test_a_heartbeat_begins_a_session(self) -> None:
        cluster = Cluster().up(1, 2)
        cluster.advance(5000)
        cluster.heartbeat(2)
        assert cluster.controller.deadline() == 5000 + SESSION_MS

    def test_a_refused_heartbeat_does_not(self) -> None:
        cluster = Cluster().up(1, 2)
        cluster.now_ms = 5000
        cluster.ask(BrokerHeartbeatRequest(2, 77, 100))
        assert cluster.controller.deadline() == SESSION_MS

    def test_several_go_one_by_one(self) -> None:
        cluster = Cluster().up(1, 2, 3)
        place(cluster, [3, 2, 1])
        cluster.advance(SESSION_MS)
        assert [cluster.image.cluster.brokers[each].fenced for each in (1, 2, 3)] == [
            False,
            True,
            True,
        ]
        assert led(cluster) == (1, 1, (1,))

    def test_the_broker_of_this_process_has_none(self) -> None:
        cluster = Cluster().up(1)
        cluster.heartbeat(1)
        assert cluster.controller.deadline() is None
        cluster.advance(7 * 24 * 3600 * 1000)
        assert not cluster.image.cluster.brokers[1].fenced

    def test_nothing_is_over(self) -> None:
        cluster = Cluster().up(1, 2)
        decision = cluster.controller.expire(SESSION_MS - 1)
        assert decision.records == ()


class TestRestart:
    def test_every_broker_gets_a_whole_session(self) -> None:
        cluster = Cluster().up(1, 2)
        cluster.now_ms = 50_000
        again = cluster.restarted()
        assert again.log == cluster.log
        assert again.controller.deadline() == 50_000 + SESSION_MS

    def test_what_was_cut_off_is_aborted(self) -> None:
        cluster = Cluster(check=False)
        for message in (BeginTransactionRecord("x"), TopicRecord("t", b"t" * 16)):
            cluster.log.append(bytes(encode_record(MetadataRecord(message, 0))))
        again = cluster.restarted()
        assert len(again.log) == len(cluster.log) + 1
        assert not again.image.topics.by_name
        assert not again.image.in_transaction

    def test_an_unknown_command(self) -> None:
        with pytest.raises(TypeError, match="TopicRecord is no command"):
            Cluster().controller.handle(0, TopicRecord())

"""The controller: a machine that decides all changes of the cluster.

Commands are requests of the protocol and answers its responses, as generated messages. The caller
checks authorization and versions. The records of a decision go to the metadata log as one batch,
from ``image.next_offset`` on; each is then given to ``replay`` with its offset, and the answer is
sent when they are committed. Answers to later commands depend on that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)
from fencepost_protocol.generated.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)

from fencepost_broker.controller import brokers
from fencepost_broker.controller.context import Context
from fencepost_broker.controller.leader_balance import (
    ElectionsChecked,
    preferred_elections,
    unclean_elections,
)
from fencepost_broker.controller.mutation_quotas import MutationQuotas, MutationsCharged
from fencepost_broker.controller.ports import (
    ConfigRules,
    ControllerCommand,
    ControllerSettings,
    TokenCommand,
    TopicCommand,
)
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.image.changes import BrokerChanged, Changes
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import Broker
from fencepost_broker.ports import Chance


class HeartbeatReceived(NamedTuple):
    """Soft state: the time of a broker's last heartbeat; ``None``: its session is over."""

    broker_id: int
    at_ms: int | None


class StoodStill(NamedTuple):
    """Soft state: until now, no heartbeat could be received for this time."""

    now_ms: int
    for_ms: int


class Controller:
    """The controller's machine, with the image of the cluster."""

    def __init__(
        self,
        image: MetadataImage,
        rules: ConfigRules,
        chance: Chance,
        settings: ControllerSettings | None = None,
    ) -> None:
        self.image = image
        self._context = Context(image, settings or ControllerSettings(), rules, chance)
        self._sessions: dict[int, int] = {}
        """Soft state: time of each broker's last heartbeat. A fenced broker has a session, too:
        while it lasts, no other broker can register its id."""
        given = self._context.settings
        self._mutations = MutationQuotas(given.mutation_window_ms)
        self._elections = (
            preferred_elections(given.leader_imbalance_check_interval_ms),
            unclean_elections(given.unclean_leader_election_interval_ms),
        )

    # -- the contract of machines ---------------------------------------------------------------

    def handle(self, now_ms: int, command: ControllerCommand) -> Decision[Any]:
        """Return the decision about a request, without changing anything."""
        if isinstance(command, TopicCommand):
            decide_topics = _decider(command.request.NAME)
            permits = self._mutations.permits(self.image, command, now_ms)
            if permits is None:
                return decide_topics(self._context, command.request)
            decision = decide_topics(self._context._replace(permits=permits), command.request)
            decision.answer.throttle_time_ms = permits.wait_ms
            return replace(decision, soft=(permits.charged(),))
        if isinstance(command, TokenCommand):
            from fencepost_broker.controller.security.delegation_tokens import decide

            return decide(self._context, now_ms, command)
        if isinstance(command, BrokerHeartbeatRequest):
            return self._heartbeat(now_ms, command)
        if isinstance(command, BrokerRegistrationRequest):
            return self._register(now_ms, command)
        return _decider(command.NAME)(self._context, command)

    def replay(self, record: Message, offset: int) -> Changes:
        """Apply a record of the log; see ``MetadataImage.apply``."""
        changes = self.image.apply(record, offset)
        for change in changes:
            if isinstance(change, BrokerChanged) and change.after is None:
                self._sessions.pop(change.broker_id, None)
        for each in self._elections:
            each.note(changes)
        return changes

    def apply_soft(
        self, soft: HeartbeatReceived | ElectionsChecked | StoodStill | MutationsCharged
    ) -> None:
        """Apply soft state, after the records of the same decision."""
        if isinstance(soft, MutationsCharged):
            self._mutations.apply(soft)
            return
        if isinstance(soft, StoodStill):
            # No heartbeat could be heard in that time, so it does not count for the sessions.
            for broker_id, at_ms in self._sessions.items():
                self._sessions[broker_id] = min(at_ms + soft.for_ms, soft.now_ms)
            return
        if isinstance(soft, ElectionsChecked):
            for each in self._elections:
                if each.why == soft.why:
                    each.checked(soft)
            return
        if soft.at_ms is None:
            self._sessions.pop(soft.broker_id, None)
            return
        for each in self._elections:
            each.start_waiting(soft.at_ms)
        if soft.broker_id in self.image.cluster.brokers and not self._is_local(soft.broker_id):
            self._sessions[soft.broker_id] = soft.at_ms

    def jumped(self, by_ms: int) -> None:
        """Let sessions and waits last as long as before, now that the clock was set."""
        for broker_id in self._sessions:
            self._sessions[broker_id] += by_ms
        for each in self._elections:
            each.jumped(by_ms)
        self._mutations.jumped(by_ms)

    def deadline(self) -> int | None:
        """Return when the next session of an unfenced broker ends, or elections are due."""
        times_ms = [end_ms for end_ms, _ in self._ends()]
        times_ms += (each.due_ms for each in self._elections if each.due_ms is not None)
        if (check_ms := self._tokens_checked_at_ms()) is not None:
            times_ms.append(check_ms)
        return min(times_ms, default=None)

    def _tokens_checked_at_ms(self) -> int | None:
        settings, tokens = self._context.settings.tokens, self.image.delegation_tokens
        if settings is None or not tokens.by_id:
            return None
        from fencepost_broker.controller.security.delegation_tokens import check_at_ms

        return check_at_ms(settings, tokens)

    def expire(self, now_ms: int) -> Decision[None]:
        """Fence one broker whose session is over, elect leaders for one reason, or remove tokens.

        ``deadline`` tells whether there is more to do.
        """
        end_ms, broker = min(self._ends(), default=(now_ms + 1, None))
        if broker is not None and end_ms <= now_ms:
            return Decision(None, brokers.fence(self._context, broker))
        for each in self._elections:
            if each.due_ms is not None and each.due_ms <= now_ms:
                records = tuple(each.elections(self._context))
                return Decision(None, records, soft=(ElectionsChecked(now_ms, each.why),))
        check_ms = self._tokens_checked_at_ms()
        if check_ms is not None and check_ms <= now_ms:
            from fencepost_broker.controller.security.delegation_tokens import removals

            return Decision(None, tuple(removals(self.image.delegation_tokens, now_ms)))
        return Decision(None)

    @property
    def awaits_heartbeats(self) -> bool:
        """Whether a broker would be fenced without heartbeats."""
        return next(self._ends(), None) is not None

    def _ends(self) -> Iterator[tuple[int, Broker]]:
        for broker_id, contact_ms in self._sessions.items():
            broker = self.image.cluster.brokers[broker_id]
            if not broker.fenced:
                yield contact_ms + self.session_ms, broker

    def activate(self, now_ms: int, first_records: Iterable[MetadataRecord]) -> Decision[None]:
        """Return the first decision after the replay of the log.

        An empty log gets its first records; an unfinished transaction is aborted; every unfenced
        broker gets a whole session, since the time of its last heartbeat is unknown.
        """
        records: tuple[MetadataRecord, ...] = ()
        if self.image.in_transaction:
            from fencepost_protocol.generated import abort_transaction_record as aborted

            reason = "the controller ended within it"
            records = (MetadataRecord(aborted.AbortTransactionRecord(reason), 0),)
        elif self.image.is_empty:
            records = tuple(first_records)
        unfenced = [
            each for each, broker in self.image.cluster.brokers.items() if not broker.fenced
        ]
        return Decision(
            None, records, soft=tuple(HeartbeatReceived(each, now_ms) for each in unfenced)
        )

    def snapshot(self) -> Iterator[MetadataRecord]:
        """Yield records that lead an empty image to this one; see ``snapshot.snapshot_records``."""
        from fencepost_broker.metadata.log.snapshot import snapshot_records

        return snapshot_records(self.image)

    # -- what needs to know of sessions ---------------------------------------------------------

    def _is_local(self, broker_id: int) -> bool:
        return broker_id == self._context.settings.node_id

    @property
    def min_insync_replicas(self) -> int:
        """The value for a new cluster."""
        return self._context.settings.min_insync_replicas

    @property
    def session_ms(self) -> int:
        """Time without heartbeats after which a broker is fenced."""
        return self._context.settings.broker_session_timeout_ms

    def _register(
        self, now_ms: int, request: BrokerRegistrationRequest
    ) -> Decision[BrokerRegistrationResponse]:
        contact_ms = self._sessions.get(request.broker_id)
        valid = contact_ms is not None and now_ms < contact_ms + self.session_ms
        return brokers.register_broker(self._context, request, session_is_valid=valid)

    def _heartbeat(
        self, now_ms: int, request: BrokerHeartbeatRequest
    ) -> Decision[BrokerHeartbeatResponse]:
        decision = brokers.heartbeat(self._context, request)
        if decision.answer.error_code:
            return decision
        # A broker that may shut down has no session, for which its next incarnation would wait.
        gone = decision.answer.should_shut_down
        return replace(
            decision, soft=(HeartbeatReceived(request.broker_id, None if gone else now_ms),)
        )


@functools.cache
def _decider(command: str) -> Callable[[Context, Any], Decision[Any]]:
    """Return the function that decides a command.

    Modules are imported on first use: all of them take 90 ms, and a broker needs none to start.
    """
    match command:
        case "AllocateProducerIdsRequest":
            from fencepost_broker.controller.producer_ids import allocate_producer_ids

            return allocate_producer_ids
        case "AlterClientQuotasRequest":
            from fencepost_broker.controller.client_quotas import alter_client_quotas

            return alter_client_quotas
        case "AlterPartitionReassignmentsRequest":
            from fencepost_broker.controller.reassignment import alter_reassignments

            return alter_reassignments
        case "AlterPartitionRequest":
            from fencepost_broker.controller.alter_partition import alter_partition

            return alter_partition
        case "AlterUserScramCredentialsRequest":
            from fencepost_broker.controller.security.scram_users import alter_scram_credentials

            return alter_scram_credentials
        case "CreateAclsRequest":
            from fencepost_broker.controller.security.acls import create_acls

            return create_acls
        case "CreatePartitionsRequest":
            from fencepost_broker.controller.create_partitions import create_partitions

            return create_partitions
        case "CreateTopicsRequest":
            from fencepost_broker.controller.create_topics import create_topics

            return create_topics
        case "DeleteAclsRequest":
            from fencepost_broker.controller.security.acls import delete_acls

            return delete_acls
        case "DeleteTopicsRequest":
            from fencepost_broker.controller.delete_topics import delete_topics

            return delete_topics
        case "ElectLeadersRequest":
            from fencepost_broker.controller.elect_leaders import elect_leaders

            return elect_leaders
        case "AlterConfigsRequest" | "IncrementalAlterConfigsRequest":
            from fencepost_broker.controller.configs import change_configs, replace_configs

            return replace_configs if command == "AlterConfigsRequest" else change_configs
        case "UnregisterBrokerRequest":
            from fencepost_broker.controller.unregistration import unregister_broker

            return unregister_broker
        case "UpdateFeaturesRequest":
            from fencepost_broker.controller.feature_updates import update_features

            return update_features
        case _:
            raise TypeError(f"{command} is no command of the controller")

"""A broker's lifecycle at its controller: registration, heartbeats, controlled shutdown.

    registering --registered--> catching up --read its own registration--> fenced, may be unfenced
    fenced      --heartbeat, the controller says so----------------------> active
    active      --the controller says so (its session has ended)---------> fenced
    any         --the controller does not know its epoch-----------------> registering
    any         --controlled shutdown begins-----------------------------> leaving
    leaving     --the controller agrees, or does not answer in time------> gone

Nothing here waits: ``request`` returns what to send now, ``answered`` and ``failed`` take the
outcome, ``deadline`` says when to ask again. One request is sent at a time.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)
from fencepost_protocol.generated.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)

AGAIN_MS: Final = 100
"""Pause after a failed request, and between heartbeats of a controlled shutdown."""
FINAL: Final = frozenset(
    {
        ErrorCode.INCONSISTENT_CLUSTER_ID,
        ErrorCode.INVALID_REGISTRATION,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.BROKER_ID_NOT_REGISTERED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    }
)
"""Errors of a registration that another attempt cannot change."""


class State(Enum):
    """States in the diagram above."""

    REGISTERING = "registering"
    CATCHING_UP = "catching up"
    FENCED = "fenced"
    ACTIVE = "active"
    LEAVING = "leaving"
    GONE = "gone"


class BrokerLifecycle:
    """Lifecycle of one incarnation of a broker."""

    def __init__(
        self, registration: BrokerRegistrationRequest, now_ms: int, *, heartbeat_ms: int
    ) -> None:
        self._registration = registration
        self._heartbeat_ms = heartbeat_ms
        self.state = State.REGISTERING
        self.broker_epoch = -1
        self.refusal = ErrorCode.NONE
        """Why the controller refuses it; final if it is one of ``FINAL``."""
        self._is_ready_to_unfence = False
        self._is_under_way = False
        self._next_ms = now_ms

    # -- what happens here ----------------------------------------------------------------------

    def ready_to_unfence(self, now_ms: int) -> None:
        """Let the controller unfence the broker: its logs are open."""
        self._is_ready_to_unfence = True
        self._next_ms = now_ms

    def caught_up(self, metadata_offset: int, now_ms: int) -> None:
        """Note that the metadata was read up to an offset, perhaps that of its registration."""
        if self.state is State.CATCHING_UP and metadata_offset >= self.broker_epoch:
            self.state = State.FENCED
            if self._is_ready_to_unfence:
                self._next_ms = now_ms

    def begin_controlled_shutdown(self, now_ms: int) -> None:
        """Ask to shut down; other brokers take over its leaderships first."""
        is_known = self.state is not State.REGISTERING
        self.state = State.LEAVING if is_known else State.GONE
        self._next_ms = now_ms

    # -- asking ---------------------------------------------------------------------------------

    def deadline(self) -> int | None:
        """Return when there is something to send."""
        return None if self._is_under_way or self.state is State.GONE else self._next_ms

    def request(
        self, now_ms: int, metadata_offset: int
    ) -> BrokerRegistrationRequest | BrokerHeartbeatRequest | None:
        """Return the request to send now, if any."""
        due_ms = self.deadline()
        if due_ms is None or now_ms < due_ms:
            return None
        self._is_under_way = True
        if self.state is State.REGISTERING:
            if self.broker_epoch < 0:
                return self._registration
            return replace(self._registration, previous_broker_epoch=self.broker_epoch)
        return BrokerHeartbeatRequest(
            self._registration.broker_id,
            self.broker_epoch,
            metadata_offset,
            want_fence=not self._is_ready_to_unfence,
            want_shut_down=self.state is State.LEAVING,
        )

    def failed(self, now_ms: int) -> None:
        """Note that the last request has no answer."""
        self._is_under_way = False
        self._next_ms = now_ms + AGAIN_MS

    def answered(self, response: Any, now_ms: int) -> None:
        """Take the controller's answer to the last request."""
        self._is_under_way = False
        if isinstance(response, BrokerRegistrationResponse):
            self._registered(response, now_ms)
        else:
            assert isinstance(response, BrokerHeartbeatResponse)
            self._heard(response, now_ms)

    def _registered(self, response: BrokerRegistrationResponse, now_ms: int) -> None:
        self.refusal = ErrorCode(response.error_code)
        if self.refusal:
            self._next_ms = now_ms + AGAIN_MS
            return
        self.broker_epoch = response.broker_epoch
        if self.state is State.REGISTERING:
            self.state = State.CATCHING_UP
        self._next_ms = now_ms + self._heartbeat_ms

    def _heard(self, response: BrokerHeartbeatResponse, now_ms: int) -> None:
        leaving = self.state is State.LEAVING
        if response.error_code:
            self._next_ms = now_ms + AGAIN_MS
            if response.error_code == ErrorCode.STALE_BROKER_EPOCH:
                # An unknown broker has left if it was leaving; otherwise it registers again.
                self.state = State.GONE if leaving else State.REGISTERING
            return
        if leaving:
            if response.should_shut_down:
                self.state = State.GONE
            self._next_ms = now_ms + AGAIN_MS
            return
        self._next_ms = now_ms + self._heartbeat_ms
        if self.state is not State.CATCHING_UP:
            self.state = State.FENCED if response.is_fenced else State.ACTIVE
            if response.is_fenced and self._is_ready_to_unfence:
                self._next_ms = now_ms + AGAIN_MS

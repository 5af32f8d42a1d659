"""The brokers of a cluster, asked one after the other by the procedures of the client SDK.

A command asks a few questions and ends: it drives the procedures over blocking connections, and
what cannot be reached is said at once. The SDK's own driver tries again until its time is over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Self, TypeVar

from fencepost_client.admin.routing import metadata_of
from fencepost_client.backoff import Backoff
from fencepost_client.errors import KafkaError
from fencepost_client.procedures import ANY_NODE, Ask, NodeId, Pause, Procedure
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.adapters.peer import Peer, PeerError, written

Address = tuple[str, int]
Answer = TypeVar("Answer")

_PAUSE_S: Final = 0.1


class MovedError(PeerError):
    """What was asked about changes, or has nobody to ask at the moment."""


class Peers:
    """Connections to a cluster, opened when they are needed."""

    def __init__(self, bootstrap: Sequence[Address], patience_s: float) -> None:
        self._bootstrap = bootstrap
        self._patience_s = patience_s
        self._open: dict[Address, Peer] = {}
        self._brokers: dict[int, Address] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for peer in self._open.values():
            peer.close()

    # -- procedures ------------------------------------------------------------------------------

    def run(self, procedure: Procedure[Answer]) -> Answer:
        """Drive a procedure to its end; a ``KafkaError`` is what brokers say of it."""
        end_s = time.monotonic() + self._patience_s
        try:
            step = next(procedure)
            while True:
                if isinstance(step, Ask):
                    try:
                        answer = self._answer(step)
                    except KafkaError as error:  # the request cannot be built for this broker
                        step = procedure.throw(error)
                        continue
                    step = procedure.send(answer)
                    continue
                if isinstance(step, Pause):
                    if time.monotonic() + step.ms / 1000 >= end_s:
                        raise step.because or PeerError(f"no success in {self._patience_s:g} s")
                    time.sleep(step.ms / 1000)
                step = procedure.send(None)
        except StopIteration as done:
            result: Answer = done.value
            return result
        finally:
            procedure.close()

    @staticmethod
    def backoff() -> Backoff:
        """Pauses between attempts; a command is alone, and needs no chance in them."""
        return Backoff(lambda: 0.5)

    @staticmethod
    def wall_ms() -> int:
        """The clock of this machine, for brokers that do not tell theirs."""
        return int(time.time() * 1000)

    def patiently(self, attempt: Callable[[], Answer]) -> Answer:
        """Try until what is asked about holds still."""
        end_s = time.monotonic() + self._patience_s
        while True:
            try:
                return attempt()
            except MovedError:
                if time.monotonic() >= end_s:
                    raise
            time.sleep(_PAUSE_S)

    # -- whom to ask -----------------------------------------------------------------------------

    def name_of(self, broker_id: int) -> str:
        """Where a broker is."""
        return written(*self._address_of(broker_id))

    def ask(self, ask: Ask) -> Any:
        """One request that cannot be refused for its version."""
        return self._answer(ask)

    def _answer(self, ask: Ask) -> Any:
        if not isinstance(ask.to, NodeId):
            assert ask.to == ANY_NODE, f"{ask.to}: the procedures of commands find out who it is"
            return self._anybody().ask(ask)
        address = self._address_of(ask.to.id)
        try:
            return self._peer(address).ask(ask)
        except PeerError as error:
            if address in self._bootstrap:
                raise
            raise PeerError(
                f"{error} (this is where broker {ask.to.id} says it is: advertised.listeners)"
            ) from error

    def _anybody(self) -> Peer:
        *others, last = self._bootstrap
        for address in others:
            try:
                return self._peer(address)
            except PeerError:
                continue
        return self._peer(last)

    def _peer(self, address: Address) -> Peer:
        peer = self._open.get(address)
        if peer is None:
            peer = self._open[address] = Peer(*address, self._patience_s)
        return peer

    def _address_of(self, broker_id: int) -> Address:
        if broker_id not in self._brokers:
            answer = self.ask(Ask(ANY_NODE, ApiKey.METADATA, metadata_of([])))
            self._brokers = {each.node_id: (each.host, each.port) for each in answer.brokers}
        address = self._brokers.get(broker_id)
        if address is None:
            known = ", ".join(map(str, sorted(self._brokers)))
            raise PeerError(f"there is no broker {broker_id}; there are: {known}")
        return address

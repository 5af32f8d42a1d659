"""Wakes machines when something is due, and tries again what could not be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordinator.runtime.shard import AppendRefusedError, Shard
from fencepost_broker.ports import Clock, Timer

RETRY_MS: Final = 1000
"""The pause after which a machine writes again what its log refused."""
_REFUSED_MAX: Final = 64
"""So many refusals in a row are enough for one try: some 5 ms."""


class Expiries:
    """What time makes happen in all machines of a broker. One timer wakes all of them."""

    def __init__(
        self,
        clock: Clock,
        shards: Mapping[tuple[str, int], Shard],
        tell: Callable[[Shard, str], None],
    ) -> None:
        """``tell`` takes a text for people about a shard whose log refuses records."""
        self._clock = clock
        self._shards = shards
        self._tell = tell
        self._timer: Timer | None = None
        self._timer_ms: int | None = None
        """The state time for which the timer is set."""
        self._refused: dict[Shard, int] = {}
        """How many records of a shard were refused since the last retry. After ``_REFUSED_MAX`` of
        them the shard has to wait for the next retry."""
        self._told: set[Shard] = set()
        """The shards with refused records that people have heard of."""
        self._retry_timer: Timer | None = None

    def stop(self) -> None:
        """Wake no machine any more."""
        for timer in (self._timer, self._retry_timer):
            if timer is not None:
                timer.cancel()

    def deadline_ms(self) -> int | None:
        """When the first machine has something to do, of those that need not wait for a retry."""
        deadlines = (
            shard.machine.deadline()
            for shard in self._shards.values()
            if shard.is_loaded and not self._waits(shard)
        )
        return min((each for each in deadlines if each is not None), default=None)

    def expire(self, now_ms: int) -> None:
        """Let machines do what is due."""
        for shard in list(self._shards.values()):
            machine = shard.machine
            while shard.is_loaded and not self._waits(shard):
                due_ms = machine.deadline()
                if due_ms is None or due_ms > now_ms:
                    break
                try:
                    shard.commit(machine.expire(now_ms), now_ms)
                except AppendRefusedError as error:
                    machine.put_off()
                    self._note_refusal(shard, error)
        self.look_at_deadline(self.deadline_ms(), now_ms)

    def jumped(self, by_ms: int) -> None:
        """Move the ends of durations in all machines: the clock was set."""
        if self._timer_ms is not None:
            self._timer_ms += by_ms
        for shard in self._shards.values():
            shard.machine.jumped(by_ms)

    def look_at_deadline(self, deadline_ms: int | None, now_ms: int) -> None:
        """Have the machines woken at this state time, or earlier."""
        if deadline_ms is None or (self._timer_ms is not None and self._timer_ms <= deadline_ms):
            return
        if deadline_ms > now_ms and not self._clock.runs:
            return  # the clock's owner wakes the machines when it moves the clock
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ms = deadline_ms
        self._timer = self._clock.call_later(max(deadline_ms - now_ms, 0), self._wake)

    def _wake(self) -> None:
        self._timer = self._timer_ms = None
        self.expire(self._clock.now_ms())

    # -- retries --------------------------------------------------------------------------------

    def _waits(self, shard: Shard) -> bool:
        return self._refused.get(shard, 0) >= _REFUSED_MAX

    def _note_refusal(self, shard: Shard, error: AppendRefusedError) -> None:
        self._refused[shard] = self._refused.get(shard, 0) + 1
        self._retry_soon()
        # A log reports errors of its disk by itself.
        if error.log_error is not ErrorCode.KAFKA_STORAGE_ERROR:
            if shard not in self._told:
                text = f"{shard.name}: expired state cannot be written, and is tried again: {error}"
                self._tell(shard, text)
            self._told.add(shard)

    def _retry_soon(self) -> None:
        if self._retry_timer is None:
            self._retry_timer = self._clock.call_later(RETRY_MS, self._retry)

    def _retry(self) -> None:
        """Try again; a shard with many refusals goes on where it stopped, then begins anew."""
        self._retry_timer = None
        refused, self._refused = self._refused, {}
        for shard, count in refused.items():
            if count < _REFUSED_MAX:
                shard.machine.take_up()
            else:
                self._refused[shard] = 0
        self.expire(self._clock.now_ms())
        self._told &= self._refused.keys()
        if self._refused:
            self._retry_soon()

"""A coordinator's shard and its disk: what leaves when, with a worker that works when told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from fencepost_broker.coordinator.effects import Reply, Tell
from fencepost_broker.coordinator.records import LogRecord, RecordFamily
from fencepost_broker.coordinator.runtime.shard import AppendRefusedError, Shard
from fencepost_broker.coordinator.transaction.commands import GiveUp, Resume
from fencepost_broker.metadata.decision import Decision
from fencepost_broker.metadata.image import model
from fencepost_broker.replication.leader import LeaderState
from fencepost_broker.replication.partition import Partition
from fencepost_broker.storage.flush_scheduler import FlushScheduler
from fencepost_broker.storage.log import FlushTask, PartitionLog, StorageError, upkeep
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.transaction_log import TransactionLogKey

from tests.machine.storage.harness import NOW, Hands, batch, open_log
from tests.machine.storage.harness import append as append_to


class Machine:
    """Decides what it is told to decide: a command is its own decision."""

    def __init__(self) -> None:
        self.replayed: list[str] = []

    @property
    def state(self) -> Any:
        return self.replayed

    def handle(self, now_ms: int, command: Any) -> Decision[Any]:
        decision: Decision[Any] = command
        return decision

    def replay(self, record: LogRecord, offset: int, producer_id: int) -> None:
        assert isinstance(record.key, TransactionLogKey)
        self.replayed.append(record.key.transactional_id)

    def apply_soft(self, soft: Any) -> None:
        raise AssertionError

    def deadline(self) -> int | None:
        return None

    not_due_before = deadline

    def expire(self, now_ms: int) -> Decision[None]:
        return Decision()

    def jumped(self, by_ms: int) -> None:
        raise AssertionError

    def put_off(self) -> None:
        raise AssertionError

    take_up = put_off

    def activate(self, now_ms: int) -> Decision[None]:
        return Decision(effects=(told("activated"),))

    def unload(self) -> Decision[None]:
        return Decision(effects=(told("unloaded"),))


class Token:
    """Whoever waits for an answer; the coordination of these tests keeps it."""

    def __call__(self, answer: Any) -> None:
        raise AssertionError


TOKEN, READER = Token(), Token()


class Timer:
    """Goes off when a test calls ``wait_is_over``."""

    is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


@dataclass
class Around:
    """The coordination."""

    flushes: FlushScheduler
    left: list[Any] = field(default_factory=list)
    timers: list[Timer] = field(default_factory=list)
    failed: list[Shard] = field(default_factory=list)

    def now_ms(self) -> int:
        return NOW

    def release(self, shard: Shard, effects: tuple[Any, ...]) -> None:
        self.left += effects

    def look_at_deadline(self, deadline_ms: int | None, now_ms: int) -> None:
        """Nothing is due."""

    def flush(self, shard: Shard) -> None:
        self.flushes.ask((shard.partition.log,), shard)

    def flush_failed(self, shard: Shard) -> None:
        self.failed.append(shard)

    def call_in_time(self, shard: Shard) -> Timer:
        self.timers.append(Timer())
        return self.timers[-1]

    def tell(self, shard: Shard, kind: str, text: str, *, unexpected: bool = False) -> None:
        raise AssertionError

    def broke(self, error: Exception) -> None:
        raise AssertionError from error

    def appended(self, shard: Shard, records: Any) -> None:
        """Nobody listens."""


def told(text: str) -> Tell:
    return Tell("test", text)


def writing(*names: str, effects: tuple[Any, ...] = (), answer: Any = None) -> Decision[Any]:
    records = tuple(LogRecord(TransactionLogKey(name), None) for name in names)
    return Decision(answer, records, effects)


class Setting:
    """A shard, its surroundings, and the hands that flush."""

    def __init__(self, log: PartitionLog) -> None:
        self.log = log
        self.hands = Hands()
        self.around = Around(FlushScheduler(self.hands, self.hands))
        self.machine = Machine()
        partition = Partition("__transaction_state", 0, log)
        self.shard = Shard(self.around, RecordFamily.TRANSACTIONS, partition, self.machine)
        self.shard.is_loaded = True

    @property
    def left(self) -> list[Any]:
        """What has left since the last look."""
        left, self.around.left = self.around.left, []
        return left

    def flush(self) -> None:
        self.hands.turn()
        self.hands.work()

    def replicated(self, *in_sync: int) -> LeaderState:
        """Let the partition have a follower, broker 2, from now on."""
        led = model.Partition(0, (1, 2), in_sync or (1, 2), 1, 0, 0, (bytes(16),) * 2)
        state = LeaderState(1, led, self.log, NOW, lag_max_ms=1000)
        self.shard.partition.lead(state)
        return state

    def fetch(self, state: LeaderState, offset: int) -> None:
        """The follower asks for what comes at an offset."""
        assert state.fetched(2, offset, 0, -1, NOW)
        self.shard.partition.moved()
        self.shard.partition.ready.drain()


@pytest.fixture
def setting() -> Setting:
    return Setting(open_log(flush_messages=1))


def test_without_fsync_everything_leaves_at_once() -> None:
    setting = Setting(open_log())
    effect = told("decided")
    assert setting.shard.submit(writing("a", effects=(effect,), answer="fine")) == "fine"
    assert not setting.shard.is_behind
    assert setting.left == [effect]
    assert not setting.hands.soon


@pytest.mark.parametrize(
    "limits", [{"max_message_bytes": 300}, {"segment_bytes": 300, "max_message_bytes": 1000}]
)
def test_a_decision_larger_than_a_batch_may_be_is_refused(limits: dict[str, Any]) -> None:
    setting = Setting(open_log(**limits))
    names = tuple(f"name-{number}" for number in range(10_000))
    with pytest.raises(
        AppendRefusedError, match=r"10000 records, .* a batch of 300 bytes"
    ) as refused:
        setting.shard.submit(writing(*names, effects=(told("never"),)))
    assert refused.value.error is ErrorCode.UNKNOWN_SERVER_ERROR
    assert not setting.left
    assert not setting.machine.replayed
    assert setting.log.log_end_offset == 0
    setting.shard.submit(writing(*names[:10]))
    assert setting.machine.replayed == list(names[:10])


def test_what_is_decided_is_known_at_once_and_told_behind_the_flush(setting: Setting) -> None:
    shard = setting.shard
    first, second = told("first"), told("second")
    assert shard.submit(writing("a", effects=(first,), answer="fine")) == "fine"
    assert shard.settle("fine", TOKEN) is None
    shard.submit(writing("b", effects=(second,)))
    assert setting.machine.replayed == ["a", "b"]
    setting.hands.turn()
    assert not setting.left
    setting.hands.work()
    assert setting.left == [first, Reply(TOKEN, "fine"), second]
    assert not shard.is_behind
    assert setting.log.recovery_point == 2
    setting.hands.turn()
    assert not setting.hands.given, "one flush was enough"


def test_what_comes_while_a_flush_runs_waits_for_the_next(setting: Setting) -> None:
    shard = setting.shard
    early, late = told("early"), told("late")
    shard.submit(writing("a", effects=(early,)))
    setting.hands.turn()
    shard.submit(writing("b", effects=(late,)))
    setting.hands.work()
    assert setting.left == [early]
    assert shard.is_behind
    setting.flush()
    assert setting.left == [late]
    assert not shard.is_behind


def test_a_command_that_writes_nothing_waits_for_what_it_goes_by(setting: Setting) -> None:
    shard = setting.shard
    shard.submit(writing("a"))
    setting.hands.turn()
    shard.submit(writing("b"))
    seen = told("seen")
    shard.submit(Decision(effects=(seen,)))
    assert shard.settle("b is there", READER) is None
    setting.hands.work()
    assert not setting.left, "that flush does not cover what was seen"
    setting.flush()
    assert setting.left == [seen, Reply(READER, "b is there")]
    shard.submit(Decision(effects=(seen,)))
    assert setting.left == [seen]


def test_what_goes_on_behind_a_decision_shares_its_flush(setting: Setting) -> None:
    """A parked command is decided on at once; nothing of that leaves before both are on disk."""
    shard = setting.shard
    resume = Resume(GiveUp("a", TOKEN))  # type: ignore[arg-type]
    completed = told("completed")
    shard.submit(writing("a", effects=(resume, completed)))
    assert setting.left == [resume]
    shard.submit(writing("b"))  # which is what the coordination does with it
    assert shard.settle("answer", TOKEN) is None
    setting.flush()
    assert setting.left == [completed, Reply(TOKEN, "answer")]
    setting.hands.turn()
    assert not setting.hands.given


def test_a_flush_that_fails_is_an_error_to_all_who_wait(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = setting.shard
    waits = Token()
    shard.submit(writing("a", effects=(told("lost"), Reply(waits, "joined"))))
    assert shard.settle("fine", TOKEN) is None

    def refuse(log: PartitionLog) -> FlushTask:
        raise StorageError("write", "00.index", "no space left")

    monkeypatch.setattr(upkeep, "begin_flush", refuse)
    setting.hands.turn()
    replies = setting.left
    assert [each.token for each in replies] == [waits, TOKEN]
    for each in replies:
        assert isinstance(each.answer, AppendRefusedError)
        assert each.answer.log_error is ErrorCode.KAFKA_STORAGE_ERROR
        assert each.answer.error is ErrorCode.NOT_COORDINATOR
    assert setting.around.failed == [shard]


def test_a_segment_that_is_rolled_under_a_flush_needs_another_one(setting: Setting) -> None:
    shard = setting.shard
    decided = told("decided")
    shard.submit(writing("a", effects=(decided,)))
    setting.hands.turn()
    setting.log.roll(NOW)
    setting.hands.work()
    assert setting.log.recovery_point == 0
    assert not setting.left
    setting.flush()
    assert setting.left == [decided]
    assert not shard.is_behind


def test_what_is_loaded_is_flushed_before_anybody_hears_of_it(setting: Setting) -> None:
    append_to(setting.log, batch(1))
    setting.shard.begin()
    assert setting.shard.is_behind
    assert not setting.left
    setting.flush()
    assert setting.left == [told("activated")]


def test_what_was_decided_before_the_end_is_told_once_it_is_on_disk(setting: Setting) -> None:
    shard = setting.shard
    shard.submit(writing("a"))
    assert shard.settle("fine", TOKEN) is None
    shard.unload()
    assert setting.left == [told("unloaded")]
    setting.flush()
    assert setting.left == [Reply(TOKEN, "fine")]


# -- followers ----------------------------------------------------------------------------------


def test_what_is_decided_is_told_when_the_follower_has_it() -> None:
    setting = Setting(open_log())
    shard, state = setting.shard, setting.replicated()
    first, second, seen = told("first"), told("second"), told("seen")
    assert shard.submit(writing("a", effects=(first,), answer="fine")) == "fine"
    assert shard.settle("fine", TOKEN) is None
    shard.submit(writing("b", effects=(second,)))
    shard.submit(Decision(effects=(seen,)))
    assert setting.machine.replayed == ["a", "b"]
    assert not setting.left
    setting.fetch(state, 1)
    assert setting.left == [first, Reply(TOKEN, "fine")]
    assert shard.partition.waiters == [shard]
    setting.fetch(state, 2)
    assert setting.left == [second, seen]
    assert not shard.is_behind
    assert not shard.partition.waiters


def test_a_leader_that_is_alone_in_sync_waits_for_nobody() -> None:
    setting = Setting(open_log())
    setting.replicated(1)
    effect = told("decided")
    setting.shard.submit(writing("a", effects=(effect,)))
    setting.shard.partition.ready.drain()
    assert setting.left == [effect]
    assert not setting.shard.is_behind
    assert not setting.shard.partition.waiters


@pytest.mark.parametrize("disk_is_first", [True, False])
def test_the_disk_and_the_follower_are_both_waited_for(
    setting: Setting, *, disk_is_first: bool
) -> None:
    state = setting.replicated()
    effect = told("decided")
    setting.shard.submit(writing("a", effects=(effect,)))
    if disk_is_first:
        setting.flush()
    else:
        setting.fetch(state, 1)
    assert not setting.left
    assert setting.shard.is_behind
    if disk_is_first:
        setting.fetch(state, 1)
    else:
        setting.flush()
    assert setting.left == [effect]
    assert not setting.shard.is_behind


def test_who_has_waited_long_enough_for_a_follower_hears_so_and_the_rest_waits_on() -> None:
    setting = Setting(open_log())
    shard, state = setting.shard, setting.replicated()
    marker = told("a marker, say")
    shard.submit(writing("a", effects=(marker,)))
    assert shard.settle("fine", TOKEN) is None
    shard.submit(writing("b"))
    assert shard.settle("later", READER) is None
    shard.wait_is_over()
    (reply,) = setting.left
    assert reply.token is TOKEN
    assert reply.answer.error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert len(setting.around.timers) == 2
    setting.fetch(state, 2)
    assert setting.left == [marker, Reply(READER, "later")]
    shard.wait_is_over()
    assert not setting.left
    assert len(setting.around.timers) == 2, "nobody waits any more"


def test_nothing_is_written_while_too_few_are_in_sync() -> None:
    setting = Setting(open_log(min_insync_replicas=2))
    state = setting.replicated(1)
    with pytest.raises(AppendRefusedError, match=r"min\.insync\.replicas") as refused:
        setting.shard.submit(writing("a", effects=(told("never"),)))
    assert refused.value.error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert (setting.left, setting.machine.replayed, setting.log.log_end_offset) == ([], [], 0)
    seen = told("seen")
    setting.shard.submit(Decision(effects=(seen,)))
    assert setting.left == [seen], "what writes nothing goes on"
    state.image_changed(state.partition._replace(isr=(1, 2), partition_epoch=1), NOW)
    setting.shard.submit(writing("a"))
    assert setting.machine.replayed == ["a"]


def test_nothing_is_written_where_another_broker_leads() -> None:
    setting = Setting(open_log())
    setting.replicated()
    setting.shard.partition.follow()
    with pytest.raises(AppendRefusedError) as refused:
        setting.shard.submit(writing("a"))
    assert refused.value.error is ErrorCode.NOT_COORDINATOR


def test_a_coordinator_that_leads_no_more_drops_what_the_follower_lacks() -> None:
    setting = Setting(open_log())
    shard = setting.shard
    setting.replicated()
    shard.submit(writing("a", effects=(told("never"),)))
    assert shard.settle("fine", TOKEN) is None
    shard.partition.follow()
    unloaded, reply = setting.left
    assert unloaded == told("unloaded")
    assert reply.token is TOKEN
    assert reply.answer.error is ErrorCode.NOT_COORDINATOR
    assert setting.around.timers[0].is_cancelled
    assert not shard.is_loaded
    assert not shard.is_behind


def test_what_is_loaded_has_to_be_with_the_follower_before_anybody_hears_of_it() -> None:
    setting = Setting(open_log())
    append_to(setting.log, batch(1))
    setting.log.follows_log_end = False
    setting.log.high_watermark = 0
    state = setting.replicated()
    setting.shard.begin()
    assert not setting.left
    setting.fetch(state, 1)
    assert setting.left == [told("activated")]


def test_a_partition_without_followers_waits_for_none() -> None:
    setting = Setting(open_log())
    shard = setting.shard
    setting.replicated()
    shard.submit(writing("a", effects=(told("decided"),)))
    shard.partition.lead(None)
    setting.log.set_high_watermark(1)
    shard.partition.moved()
    shard.partition.ready.drain()
    assert setting.left == [told("decided")]
    shard.submit(writing("b", effects=(told("again"),)))
    assert setting.left == [told("again")]
    assert len(setting.around.timers) == 1

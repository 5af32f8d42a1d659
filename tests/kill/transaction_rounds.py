"""kill -9 in every state of a transaction, under load: rounds of it, each in a folder of its own.

    make kill-transactions KILL_ROUNDS=100

A round has several lives of one broker. In each there is a gallery (one transactional id in every
state, which stays in it) and a load: transformers that speak old requests, new ones, and both mixed
within a transaction, two that leave their transactions open, and an application with librdkafka.
The broker dies of SIGKILL, at an exact point (``doomed``) or at a moment that the seed chose;
sometimes it dies once more of what it does to recover. After each start, when whoever goes on has
gone on:

- a transaction that was committed is seen in all its partitions, once; one that was not, nowhere;
- the group's offset is where the output ends: no output without its offset, and no offset without
  its output; who was told that it committed has committed;
- what was decided is finished without help, and what was left open is aborted by its timer;
- all last stable offsets have come to the end;
- producers went on with their epochs and sequence numbers, and zombies heard that they are fenced.

After the last life the files say the same as the broker.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from fencepost_broker.cli.machine import build_name
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest
from fencepost_protocol.generated.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from fencepost_protocol.records.writer import build_batch

from tests.conformance.clients.clients import CLIENTS
from tests.kill import read_back
from tests.kill.attempts import Outcome, Output
from tests.kill.doomed import DEAD, FENCE, OFFSETS
from tests.kill.doomed_up import DoomedUp
from tests.kill.gallery import Gallery
from tests.kill.transaction_results import STATES, Result, table
from tests.kill.transactional import INPUT, OUTPUT, Gate, Transactional
from tests.kill.transformers import OUTPUT_PARTITIONS, Leaver, Librdkafka, Transformer
from tests.support.up import PATIENCE_SECONDS

MARKERS: Final = ("first-marker", "last-marker", "offsets-marker")
WHEN: Final = ("before", "torn", "after")
ANY_MOMENT: Final = ""
RARE: Final = ("Empty", FENCE, DEAD)
"""What happens a few times a second only."""
IN_RECOVERY: Final = ("CompleteCommit", "CompleteAbort", *MARKERS)
KILLED_IN_RECOVERY: Final = 0.3
POINTS_PER_ROUND: Final = 3
"""A round has so many lives that end at a point, and one that ends at any moment."""
GROUPS, TRANSACTIONS = 0, 1
STYLES: Final = ("old", "new", "mixed")
TRANSACTION_VERSIONS: Final = (2, 2, 2, 1, 0)
OFFSETS_PARTITIONS, STATE_PARTITIONS = 3, 2
EXPIRATION_MS: Final = 1000
SLEEPERS: Final = 20
RECORDS_AHEAD, RECORDS_PER_BATCH = 3000, 20
SETTINGS: Final = (
    "-c", f"offsets.topic.num.partitions={OFFSETS_PARTITIONS}",
    "-c", f"transaction.state.log.num.partitions={STATE_PARTITIONS}",
)  # fmt: skip
EVERY_THIRD: Final = 3
POLL_SECONDS: Final = 0.005


class Round:
    """One data directory and all that happens to it."""

    def __init__(
        self,
        seed: str,
        folder: Path,
        points: Sequence[str],
        command: Sequence[str],
        *,
        loads_slowly: bool,
        settings: Sequence[str] = (),
    ) -> None:
        """``points``: of what each life ends. ``command``: librdkafka's, if it shall take part.

        ``loads_slowly``: coordinators are still loading when the first clients come back.
        ``settings``: the broker's, beside its own: ``fsync=always``.
        """
        self.rng = random.Random(seed)
        self.result = Result(seed, self.rng.choice(TRANSACTION_VERSIONS), loads_slowly)
        self.data = folder / "data"
        self.points = points
        self.gate = Gate()
        given = [word for each in settings for word in ("-c", each)]
        self.broker = DoomedUp(_free_port(), "--data-dir", str(self.data), *SETTINGS, *given)
        self.broker.loads_slowly = loads_slowly
        self.gate.port = self.broker.port
        self.has_new = self.result.transaction_version > 0
        kinds = [*((Transformer, style) for style in STYLES), (Leaver, "mixed"), (Leaver, "mixed")]
        self.transformers = [
            kind(
                self.gate,
                f"{kind.__name__.lower()}-{number}",
                number,
                style if self.has_new else "old",
                f"{seed}/{number}",
            )
            for number, (kind, style) in enumerate(kinds)
        ]
        self.partitions = len(kinds) + 1
        self._command = command
        self._librdkafka: Librdkafka | None = None
        self.galleries: list[Gallery] = []
        self._input_end = 0
        self._visible: Output = {}

    def run(self) -> Result:
        """All lives, then what the files say."""
        expires = [*(DEAD in point for point in self.points), False]
        try:
            self.broker.of_this_life = _settings_of_life(expires=expires[0])
            with self.broker:
                self.gate.is_up.set()
                try:
                    self._prepare()
                    for number, point in enumerate(self.points):
                        self._live(number, point, expires=expires[number])
                        self._start_again(expires=expires[number + 1])
                        self._settle(expires=expires[number + 1])
                        self._verify()
                    self.broker.assert_healthy()
                    self._verify_files()
                finally:
                    self._close()
        finally:
            self._wait_for_threads()
        return self._counted()

    # -- a life --------------------------------------------------------------------------------

    def _prepare(self) -> None:
        with self.broker.connect() as wire:
            wire.create(INPUT, self.partitions)
            wire.create(OUTPUT, OUTPUT_PARTITIONS, segment_ms="300")
            # What is there first is loaded first.
            for kind in self.rng.sample((GROUPS, TRANSACTIONS), 2):
                wire.ask(FindCoordinatorRequest("x", kind), 3)
            wanted = self.result.transaction_version
            update = FeatureUpdateKey("transaction.version", wanted, upgrade_type=2)
            answer = wire.ask(UpdateFeaturesRequest(feature_updates=[update]), 1)
            assert not answer.error_code, answer
        self._add_input()
        for each in self.transformers:
            each.start()
        if self._command:
            name, partition = "librdkafka", self.partitions - 1
            self._librdkafka = Librdkafka(self._command, self.gate, name, partition)
        self._wait_until_idle()

    def _live(self, number: int, point: str, *, expires: bool) -> None:
        """A gallery, a load, and the end of both."""
        self._add_input()
        gallery = Gallery(self.gate, number, new=self.has_new, dead=expires)
        self.galleries.append(gallery)
        gallery.fill(self.broker.order)
        self.result.exhibits += len(gallery.exhibits)
        if expires:
            for sleeper in range(SLEEPERS):
                Transactional(gallery.link, f"sleeper-{number}-{sleeper}").initialize()
        for each in self.transformers:
            each.may_be_fenced = each.may_be_fenced or expires
            each.expect_loss()
        when, _, what = point.partition(" ")
        if point:
            most = 3 if what in RARE else 120
            self.broker.order(f"die at {self.rng.randint(1, most)} {when} {what}")
        self.gate.goes_on.set()
        if self._librdkafka is not None:
            self._librdkafka.go()
        if not point:
            self._kill_in_a_while()
        self.broker.wait_for_death()
        self.gate.goes_on.clear()
        self.gate.is_up.clear()
        self.result.kills += 1
        self.result.points.append(point)
        self._look_at_the_dead(gallery, when, what)

    def _kill_in_a_while(self) -> None:
        goal = self._told() + self.rng.randint(5, 200)
        self._wait_for(lambda: self._told() >= goal, "nothing is committed any more")
        time.sleep(self.rng.random() * 0.03)
        os.kill(self.broker.pid, signal.SIGKILL)

    def _told(self) -> int:
        return sum(each.attempts.count(Outcome.COMMITTED) for each in self._all())

    def _look_at_the_dead(self, gallery: Gallery, when: str, what: str) -> None:
        """Whether it died where it should, and in which states."""
        states = read_back.states_in_files(self.data, STATE_PARTITIONS)
        others = Counter(states.values())
        for each in gallery.exhibits:
            state = states[each.producer.name]
            wanted = {each.state} | ({DEAD} if gallery.expires else set())
            assert state in wanted, f"{each.producer.name} is in {state}"
            others[state] -= 1
            self.result.states[FENCE if each.is_fenced else state] += 1
        self.result.states += others
        if when == "after" and what in STATES and what != FENCE:
            assert others[what] > 0, f"nothing else is in {what}"
        torn = read_back.torn_bytes(self.data)
        assert torn or when != "torn", "no batch is torn"
        self.result.torn += torn > 0

    # -- the next one --------------------------------------------------------------------------

    def _start_again(self, *, expires: bool) -> None:
        self.broker.of_this_life = _settings_of_life(expires=expires)
        for each in self.transformers:
            each.may_be_fenced = each.may_be_fenced or expires
        if self.rng.random() < KILLED_IN_RECOVERY:
            what = self.rng.choice(IN_RECOVERY)
            self.broker.start_and_die(f"1 {self.rng.choice(WHEN)} {what}")
            self.result.killed_in_recovery += 1
            self.result.kills += 1
        began = time.monotonic()
        self.broker.start()
        ready = time.monotonic()
        if self.result.loads_slowly:
            self.gate.is_up.set()
        with self.broker.connect() as wire:
            request = ListTransactionsRequest(["PrepareCommit", "PrepareAbort"])

            def all_is_finished() -> bool:
                answer = wire.ask(request, 0)
                return not answer.error_code and not answer.transaction_states

            self._wait_for(all_is_finished, "what was decided is not finished")
        self.result.starts_ms.append(round((ready - began) * 1000))
        self.result.finished_ms.append(round((time.monotonic() - ready) * 1000))
        self.gate.is_up.set()

    def _settle(self, *, expires: bool) -> None:
        """Whoever was in the middle of something comes to an end of it."""
        self._wait_until_idle()
        self.galleries[-1].go_on(expires=expires)
        topics = {OUTPUT: OUTPUT_PARTITIONS, "__consumer_offsets": OFFSETS_PARTITIONS}
        with self.broker.connect() as wire:
            for topic, partitions in topics.items():

                def ends(level: int, topic: str = topic, count: int = partitions) -> list[int]:
                    return read_back.ends(wire, topic, count, level)

                self._wait_for(
                    lambda ends=ends: ends(0) == ends(1),  # type: ignore[misc]
                    f"last stable offsets of {topic} stay behind",
                )

    def _wait_until_idle(self) -> None:
        if self._librdkafka is not None:
            self._librdkafka.hold()
        for each in self._all():
            assert each.is_idle.wait(PATIENCE_SECONDS), (
                f"{each.name} does not come to an end: "
                f"{each.producer.doing if isinstance(each, Transformer) else ''}"
            )
        self._raise_failures()

    def _wait_for(self, is_so: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            self._raise_failures()
            if time.monotonic() > deadline:
                raise TimeoutError(otherwise)
            time.sleep(POLL_SECONDS)

    def _raise_failures(self) -> None:
        for each in self._all():
            if each.failure is not None:
                raise AssertionError(f"{each.name}: {each.failure!r}") from each.failure

    def _all(self) -> list[Transformer | Librdkafka]:
        more = [] if self._librdkafka is None else [self._librdkafka]
        return [*self.transformers, *more]

    def _add_input(self) -> None:
        """So that nobody comes to its end."""
        with self.broker.connect() as wire:
            places = [each.committed() for each in self._all()]
            wanted = max(places, default=0) + RECORDS_AHEAD
            while self._input_end < wanted:
                now_ms = int(time.time() * 1000)
                batch = bytes(build_batch(None, [b"x"] * RECORDS_PER_BATCH, now_ms))
                for partition in range(self.partitions):
                    assert not wire.produce(INPUT, batch, partition).error_code
                self._input_end += RECORDS_PER_BATCH

    # -- what must hold ------------------------------------------------------------------------

    def _verify(self) -> None:
        with self.broker.connect() as wire:
            self._visible = {
                number: read_back.committed_values(wire, OUTPUT, number)
                for number in range(OUTPUT_PARTITIONS)
            }
        by_name: dict[str, Output] = {}
        for number, values in self._visible.items():
            for value in values:
                name = value.partition(b"/")[0].decode()
                by_name.setdefault(name, {}).setdefault(number, []).append(value)
        for each in self._all():
            each.attempts.verify(by_name.pop(each.name, {}), each.committed())
        for gallery in self.galleries:
            gallery.verify(self._visible)
        strange = [name for name in by_name if not name.startswith("gallery-")]
        assert not strange, f"nobody wrote {strange}"

    def _verify_files(self) -> None:
        """The files of a broker that stopped in order, read without it."""
        offsets = {each.name: each.committed() for each in self._all()}
        self.gate.is_up.clear()
        assert self.broker.stop() == 0
        for number, values in self._visible.items():
            found = read_back.committed_in_files(self.data, f"{OUTPUT}-{number}")
            assert Counter(found) == Counter(values), f"the files of {OUTPUT}-{number} differ"
        found_offsets = read_back.offsets_in_files(self.data, OFFSETS_PARTITIONS)
        for name, offset in offsets.items():
            assert found_offsets.get(name, 0) == offset, f"{name}: {found_offsets} and {offset}"

    def _close(self) -> None:
        self.gate.is_closed = True
        self.gate.is_up.set()
        self.gate.goes_on.set()
        for gallery in self.galleries:
            gallery.close()
        if self._librdkafka is not None:
            self._librdkafka.close()

    def _wait_for_threads(self) -> None:
        """The broker is away by now: nobody waits for an answer any more."""
        for each in self.transformers:
            if each.is_alive():
                each.join(PATIENCE_SECONDS)

    def _counted(self) -> Result:
        result = self.result
        for each in self._all():
            attempts = each.attempts
            result.committed += attempts.count(Outcome.COMMITTED)
            result.aborted += attempts.count(Outcome.ABORTED)
            result.left_open += attempts.count(Outcome.OPEN)
            result.untold += attempts.count(Outcome.COMMIT_SENT)
        for transformer in self.transformers:
            result.sent_again += transformer.link.sent_again
            result.heard_loading += transformer.producer.heard_loading
            result.zombies += transformer.zombies_refused
        if self._librdkafka is not None:
            result.by_librdkafka = self._librdkafka.attempts.count(Outcome.COMMITTED)
            result.restarts_of_librdkafka = self._librdkafka.times_restarted
        return result


def _settings_of_life(*, expires: bool) -> list[str]:
    return ["-c", f"transactional.id.expiration.ms={EXPIRATION_MS}"] if expires else []


def _free_port() -> int:
    """One that no outgoing connection gets: one to a broker that is away might meet itself."""
    for port in random.SystemRandom().sample(range(15_000, 32_000), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")


def deck(seed: str, *, all_whens: bool) -> list[str]:
    """Every point once; or every occasion once, before, torn or after in turn."""
    points = [
        f"{when} {what}"
        for number, what in enumerate((*STATES, OFFSETS, *MARKERS))
        for when in (WHEN if all_whens else (WHEN[number % len(WHEN)],))
    ]
    random.Random(f"{seed}/deck").shuffle(points)
    return points


def librdkafka_command() -> list[str]:
    """How the application with librdkafka is run; raises ``ClientUnavailableError``."""
    python = CLIENTS["confluent-kafka"].prepare()[0]
    return [python, "-m", "tests.kill.librdkafka_transformer"]


def run_round(
    seed: str,
    points: Sequence[str],
    command: Sequence[str] = (),
    *,
    loads_slowly: bool = False,
    settings: Sequence[str] = (),
) -> Result:
    """One round in a folder of its own; its failure names the seed."""
    with tempfile.TemporaryDirectory(prefix="fencepost-kill-") as folder:
        try:
            return Round(
                seed, Path(folder), points, command, loads_slowly=loads_slowly, settings=settings
            ).run()
        except Exception as error:
            error.add_note(f"in round {seed} {list(points)}")
            raise


def main() -> int:
    """The long run."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill.transaction_rounds")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(1 << 32)))
    parser.add_argument("--at-once", type=int, default=1, help="rounds at the same time")
    parser.add_argument("--setting", action="append", default=[], help="the broker's: fsync=always")
    options = parser.parse_args()
    if build_name() != "pure Python":
        parser.error("compiled code goes past the functions that kill it: take pure Python")
    command = librdkafka_command()
    points: list[str] = []
    results = []
    with ThreadPoolExecutor(options.at_once) as pool:
        rounds = []
        for number in range(options.rounds):
            seed = f"{options.seed}/{number}"
            if len(points) < POINTS_PER_ROUND:
                points += deck(seed, all_whens=True)
            chosen, points = points[:POINTS_PER_ROUND], points[POINTS_PER_ROUND:]
            loads_slowly = number % EVERY_THIRD == 0
            lives = [*chosen, ANY_MOMENT]
            more = {"loads_slowly": loads_slowly, "settings": options.setting}
            rounds.append(pool.submit(run_round, seed, lives, command, **more))
        try:
            for each in rounds:
                results.append(each.result())
                print(results[-1], flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    print(f"\nseed {options.seed}\n\n{table(results)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

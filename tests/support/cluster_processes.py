"""``fencepost up --brokers N``: real processes, what happens to them, and who leads what.

    with ClusterProcesses(tmp_path, "--topic", "t:4") as cluster:
        leader = cluster.leader("t", 0)
        cluster.kill(leader)
        cluster.until_fenced(leader)
        cluster.start(leader)
        cluster.until_settled()

Everything blocks; a test with a loop takes ``asyncio.to_thread``. Whoever is asked is one of the
brokers that run; what brokers hear later than others is waited for (``until_...``). When a test
fails, what the processes said is shown with it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from fencepost_broker.cli.cluster.control_socket import ask_supervisor
from fencepost_broker.cli.cluster.status import Row, status_of
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataResponsePartition

from tests.support.up import METADATA_VERSION, PATIENCE_SECONDS, ClosedError, Wire

FENCEPOST: Final = (sys.executable, "-m", "fencepost_broker")
COORDINATOR_VERSION: Final = 4
GROUP, TRANSACTIONAL_ID = 0, 1
SESSION_TIMEOUT_MS: Final = 3000
HEARTBEATS_A_SESSION: Final = 10
COORDINATOR_PARTITIONS: Final = 6
NOBODY: Final = -1
"""Leads a partition whose replicas in sync are all away."""
_POLL_SECONDS: Final = 0.05
_SHOWN_CHARACTERS: Final = 30_000
_LOST: Final = (ClosedError, OSError)

T = TypeVar("T")
Partition = tuple[str, int]


class View:
    """The cluster as one broker sees it."""

    def __init__(self, answer: Any) -> None:
        self.unfenced: set[int] = {each.node_id for each in answer.brokers}
        self.partitions: dict[Partition, MetadataResponsePartition] = {
            (topic.name, each.partition_index): each
            for topic in answer.topics
            for each in topic.partitions
        }

    def __repr__(self) -> str:
        lacking = self.not_in_sync()
        return f"<unfenced: {self.unfenced}, not in sync: {lacking}, leaders: {self.leaders}>"

    @property
    def leaders(self) -> dict[Partition, int]:
        """Who leads what, or ``NOBODY``."""
        return {where: each.leader_id for where, each in self.partitions.items()}

    def not_in_sync(self) -> dict[Partition, set[int]]:
        """The replicas that partitions lack."""
        lacking = {
            where: set(each.replica_nodes) - set(each.isr_nodes)
            for where, each in self.partitions.items()
        }
        return {where: replicas for where, replicas in lacking.items() if replicas}


class ClusterProcesses:
    """A controller and brokers, a process each, with folders of their own.

    Topics and coordinators' topics have three replicas, or as many as there are brokers, of which
    all but one have to be there. ``settings`` are for all processes, ``arguments`` are those of
    ``fencepost up``. What is there outlives its process, unless ``keeps`` is False.
    """

    def __init__(
        self, folder: Path, *arguments: str, brokers: int = 3,
        session_timeout_ms: int = SESSION_TIMEOUT_MS,
        settings: Mapping[str, object] | None = None, keeps: bool = True,
        before: Sequence[str] = (), data_dir: str | None = None,
    ) -> None:  # fmt: skip
        """``before`` is a command that runs ours, as for ``Up``."""
        self.folder = folder
        self.run_dir = folder / "run"
        self.data_dir = Path(data_dir) if data_dir else folder / "data"
        self.session_timeout_ms = session_timeout_ms
        self.broker_ids = list(range(1, brokers + 1))
        in_sync_min = max(1, min(brokers, 3) - 1)
        given: dict[str, object] = {
            "broker.session.timeout.ms": session_timeout_ms,
            "broker.heartbeat.interval.ms": session_timeout_ms // HEARTBEATS_A_SESSION,
            "min.insync.replicas": in_sync_min,
            "transaction.state.log.min.isr": in_sync_min,
            "offsets.topic.num.partitions": COORDINATOR_PARTITIONS,
            "transaction.state.log.num.partitions": COORDINATOR_PARTITIONS,
            "group.initial.rebalance.delay.ms": 0,
            **(settings or {}),
        }
        self._command = [
            *before,
            *FENCEPOST,
            "up",
            "--brokers",
            str(brokers),
            "--port",
            "0",
            "--json",
        ]
        self._command += ["--run-dir", str(self.run_dir)]
        if keeps:
            self._command += ["--data-dir", str(self.data_dir)]
        for name, value in given.items():
            self._command += ["-c", f"{name}={value}"]
        self._command += arguments
        self._stderr = folder / "cluster-stderr"
        self._process: subprocess.Popen[str] | None = None
        self.told: dict[str, Any] = {}
        """What ``up`` has said of itself when it was ready."""

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._stderr.open("ab") as stderr:
            self._process = subprocess.Popen(
                self._command, stdout=subprocess.PIPE, stderr=stderr, text=True
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.end()
            raise AssertionError(f"the cluster did not start: {self.said()[-_SHOWN_CHARACTERS:]}")
        self.told = json.loads(line)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            sys.stderr.write(self.said()[-_SHOWN_CHARACTERS:])
        self.end()

    # -- the command itself ----------------------------------------------------------------------

    @property
    def process(self) -> subprocess.Popen[str]:
        """The process of ``up``, which looks after the others."""
        assert self._process is not None
        return self._process

    def end(self) -> int:
        """End all of it in order; gives the exit code."""
        process = self.process
        if process.poll() is None:
            process.terminate()
        try:
            return process.wait(PATIENCE_SECONDS)
        finally:
            process.kill()  # the others see their standard input close, and end
            process.wait()
            assert process.stdout is not None
            process.stdout.close()

    def said(self) -> str:
        """All log lines so far, each with its process's label."""
        return self._stderr.read_text(errors="replace")

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """``fencepost WORDS`` for this cluster."""
        return subprocess.run(
            [*FENCEPOST, *words, "--run-dir", str(self.run_dir)],
            check=False, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
        )  # fmt: skip

    # -- what happens to a process ---------------------------------------------------

    def kill(self, node_id: int) -> None:
        """SIGKILL."""
        ask_supervisor(self.run_dir, "kill", node_id)

    def stop(self, node_id: int) -> None:
        """Stop it in order: what it leads goes to others first."""
        ask_supervisor(self.run_dir, "stop", node_id)

    def start(self, node_id: int) -> None:
        """Start it again, where it was; back when it serves clients."""
        ask_supervisor(self.run_dir, "start", node_id)

    def pause(self, node_id: int) -> None:
        """SIGSTOP. ``until_fenced`` waits until the others go on without it."""
        ask_supervisor(self.run_dir, "pause", node_id)

    def resume(self, node_id: int) -> None:
        """SIGCONT."""
        ask_supervisor(self.run_dir, "resume", node_id)

    def members(self) -> dict[int, dict[str, Any]]:
        """``id``, ``label``, ``state`` (up, down, paused, starting), ``pid``, ``bootstrap``."""
        told = ask_supervisor(self.run_dir, "list")["members"]
        return {each["id"]: each for each in told}

    # -- where it is -------------------------------------------------------------------------------

    @property
    def bootstrap(self) -> str:
        """All brokers."""
        return str(self.told["bootstrap"])

    def port(self, node_id: int) -> int:
        """Where a process listens, without asking for a login; it keeps its port."""
        return self._port(node_id, "inside")

    def client_port(self, node_id: int) -> int:
        """Where it listens for clients, who may have to log in."""
        return self._port(node_id, "bootstrap")

    def _port(self, node_id: int, where: str) -> int:
        (member,) = [each for each in self.told["members"] if each["id"] == node_id]
        return int(member[where].rpartition(":")[2])

    def connect(self, node_id: int) -> Wire:
        """A connection to one of them."""
        return Wire(self.port(node_id))

    # -- who does what -----------------------------------------------------------------------------

    @property
    def controller(self) -> int:
        """Who decides; there is one, with ``--combined`` the first broker."""
        (found,) = [each["id"] for each in self.told["members"] if "controller" in each["roles"]]
        return int(found)

    def running(self) -> list[int]:
        """The brokers that can be asked: up, and not paused."""
        members = self.members()
        return [each for each in self.broker_ids if members[each]["state"] == "up"]

    def view(self, broker_id: int) -> View | None:
        """The cluster as a broker sees it; ``None`` when it does not answer."""
        try:
            with self.connect(broker_id) as wire:
                return View(wire.ask(MetadataRequest(topics=None), METADATA_VERSION))
        except _LOST:
            return None

    def views(self) -> dict[int, View | None]:
        """What each broker that runs sees."""
        return {each: self.view(each) for each in self.running()}

    def leader(self, topic: str, partition: int = 0) -> int:
        """Who leads a partition, once all brokers that run say the same."""

        def agreed() -> int | None:
            told = {
                None if view is None else view.leaders.get((topic, partition))
                for view in self.views().values()
            }
            return told.pop() if len(told) == 1 and NOBODY not in told else None

        return self.until(agreed, f"no leader of {topic}-{partition}")

    def group_coordinator(self, group: str) -> int:
        """Who coordinates a group; makes the offsets' topic if there is none."""
        return self._coordinator(GROUP, group)

    def transaction_coordinator(self, transactional_id: str) -> int:
        """Who coordinates a transactional id; makes the topic of transactions if there is none."""
        return self._coordinator(TRANSACTIONAL_ID, transactional_id)

    def _coordinator(self, kind: int, key: str) -> int:
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])

        def told(broker_id: int) -> int | None:
            try:
                with self.connect(broker_id) as wire:
                    answer = wire.ask(request, COORDINATOR_VERSION).coordinators[0]
            except _LOST:
                return None
            return None if answer.error_code else int(answer.node_id)

        def agreed() -> int | None:
            all_told = {told(each) for each in self.running()}
            return all_told.pop() if len(all_told) == 1 else None

        return self.until(agreed, f"no coordinator of {key}")

    # -- waiting -----------------------------------------------------------------------------------

    def until(self, is_so: Callable[[], T | None], otherwise: str) -> T:
        """Look again and again until there is something other than ``None`` and False."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (found := is_so()):
            assert self.process.poll() is None, "the cluster has ended"
            if time.monotonic() > deadline:
                raise TimeoutError(f"{otherwise}: {self.members()}")
            time.sleep(_POLL_SECONDS)
        return found

    def until_fenced(self, *broker_ids: int) -> None:
        """Until all others know that these brokers do not count."""
        others = [each for each in self.running() if each not in broker_ids]
        self._until_seen(
            others, lambda view: view.unfenced.isdisjoint(broker_ids), f"{broker_ids} is not fenced"
        )

    def until_unfenced(self, *broker_ids: int) -> None:
        """Until all brokers that run, these among them, know that these (default: all) count."""
        wanted = set(broker_ids or self.broker_ids)
        self._until_seen(
            self.running(), lambda view: wanted <= view.unfenced, f"{wanted} stay fenced"
        )

    def until_settled(self) -> None:
        """Until all brokers run and know it, and each partition has all its replicas in sync."""

        def is_settled(view: View) -> bool:
            return set(self.broker_ids) <= view.unfenced and not view.not_in_sync()

        self._until_seen(self.broker_ids, is_settled, "replicas stay behind, or brokers fenced")

    def _until_seen(
        self, brokers: Iterable[int], is_so: Callable[[View], bool], otherwise: str
    ) -> None:
        for broker_id in brokers:
            last: list[View | None] = []

            def is_seen(broker_id: int = broker_id, last: list[View | None] = last) -> bool:
                last[:] = [view := self.view(broker_id)]
                return view is not None and is_so(view)

            try:
                self.until(is_seen, f"{otherwise}, says broker {broker_id}")
            except TimeoutError as error:
                error.add_note(f"it sees {last}")
                raise

    def status(self) -> dict[int, Row]:
        """As ``fencepost cluster status`` tells it, without a process for each look."""
        told = ask_supervisor(self.run_dir, "list")
        found = asyncio.run(status_of(told["members"], PATIENCE_SECONDS))
        return {each.id: each for each in found.rows}

    def until_status(self, is_so: Callable[[dict[int, Row]], bool]) -> dict[int, Row]:
        """Until the table is so; gives it."""

        def found() -> dict[int, Row] | None:
            status = self.status()
            return status if is_so(status) else None

        return self.until(found, "the table does not come to it")

"""Supervisor of a cluster on this machine: a process for the controller and one for each broker.

The processes share nothing. The supervisor starts them, prints their logs with a label, and stops
them when it stops. If it is killed, they stop by themselves, because their standard input closes.
Commands use a socket in the run directory, with one line of JSON each way (:mod:`.control_socket`).
"""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from fencepost_broker.cli.cluster.control_socket import LOOPBACK, remove_address, write_address
from fencepost_broker.server.errors import ProcessError
from fencepost_broker.storage.disk.directory_lock import FileLock
from fencepost_broker.storage.log import LockedError

if TYPE_CHECKING:
    from fencepost_broker.cli.cluster.prefork import Spare
    from fencepost_broker.faults.rule import Verdict

CONTROLLER_ID: Final = 1000
CONTROLLER: Final = "CONTROLLER"
"""Name of the controller's listener."""
BETWEEN: Final = "PLAINTEXT"
"""Name of the listener for processes of this machine, and for clients if they need no login."""
_LOCK: Final = "lock"
_LINE_BYTES_MAX: Final = 1 << 20
_GRACE_S: Final = 15.0
_PAUSE: Final = getattr(signal, "SIGSTOP", None)
_RESUME: Final = getattr(signal, "SIGCONT", None)


class Pipe(Protocol):
    """The parent's end of a child's standard input."""

    def close(self) -> None:
        """Close it, by which the child stops."""


class Process(Protocol):
    """What the supervisor uses of a child, started or forked."""

    pid: int
    stdout: asyncio.StreamReader | None
    stderr: asyncio.StreamReader | None

    @property
    def stdin(self) -> Pipe | None:
        """Its standard input."""

    async def wait(self) -> int:
        """Return the exit code once it has ended."""

    def send_signal(self, signal: int) -> None:
        """Send a signal; an ended process raises ProcessLookupError or ignores it."""

    def kill(self) -> None:
        """End it at once."""


class Member:
    """One process of the cluster."""

    def __init__(
        self,
        node_id: int,
        label: str,
        arguments: Sequence[str],
        listen: Callable[[Mapping[str, int]], Sequence[str]],
        *,
        roles: Sequence[str],
    ) -> None:
        """``listen`` returns the listener options for the ports that the process had before."""
        self.node_id = node_id
        self.label = label
        self.roles = tuple(roles)
        self._arguments = tuple(arguments)
        self._listen = listen
        self._ports: dict[str, int] = {}
        """Ports by listener; a restarted process uses them again."""
        self.bootstrap = ""
        self.inside = ""
        """Address for processes of this machine, without a login."""
        self.controller = ""
        """Address of its controller, for brokers."""
        self.control = ""
        """Address of its own control port, in a cluster that has one."""
        self.state = "down"
        self.process: Process | None = None
        self.ended = asyncio.Event()
        self.is_expected_to_end = False
        self.tasks: list[asyncio.Task[None]] = []

    def arguments(self) -> list[str]:
        """Return the options of its command."""
        return [*self._arguments, *self._listen(self._ports)]

    def is_ready(self, said: Mapping[str, Any]) -> None:
        """Take in the addresses that the process has printed."""
        self.bootstrap = said["bootstrap"]
        self.inside = said["listeners"].get(BETWEEN, self.bootstrap)
        self.controller = said["controller"] or ""
        self.control = said["control"] or ""
        for name, where in (*said["listeners"].items(), (CONTROLLER, self.controller)):
            if where:
                self._ports[name] = int(where.rpartition(":")[2])
        self.state = "up"

    def told(self) -> dict[str, Any]:
        """Return its state for commands."""
        process = self.process
        return {
            "id": self.node_id,
            "label": self.label,
            "roles": self.roles,
            "state": self.state,
            "pid": None if process is None else process.pid,
            "bootstrap": self.bootstrap,
            "inside": self.inside,
        }


class ControlPort(Protocol):
    """The control port of the cluster."""

    address: str | None

    async def open(self) -> None:
        """Listen."""

    async def close(self) -> None:
        """Listen no more."""

    async def goes_down(self, node_id: int) -> None:
        """Note what a process has done, before it ends."""

    async def came_up(self, node_id: int, *, is_started: bool) -> None:
        """Give a process that was started or resumed what it has missed."""

    async def restored(self, node_ids: Iterable[int]) -> None:
        """Forget all rules: all processes were started anew."""

    async def count(self, names: Sequence[str]) -> Sequence[Verdict | None]:
        """Count a request that fault rules match; return the verdict for each."""


class Supervisor:
    """All processes of one cluster."""

    def __init__(
        self,
        run_dir: Path,
        members: Sequence[Member],
        prepare: Callable[[str], Awaitable[None]],
        spares: Iterable[Spare] = (),
        *,
        clean: Callable[[], None] = lambda: None,
        forget: Callable[[], None] | None = None,
    ) -> None:
        """``prepare`` is called with the brokers' addresses once all run.

        ``clean`` is called before the first process starts, when no other cluster uses the
        directory. ``forget`` removes what processes have kept in files; ``None``: these are to
        stay. ``spares`` become members while they last; later members are processes of a new
        interpreter.
        """
        self._spares = list(spares)
        self.on_failure: Callable[[str], None] = lambda _: None
        """Never called: an ended process is only reported."""
        self._prepare = prepare
        self._clean = clean
        self._forget = forget
        self.members = {each.node_id: each for each in members}
        self._run_dir = run_dir
        self.control: ControlPort | None = None
        self._server: asyncio.Server | None = None
        self._token = ""
        self._lock: FileLock | None = None

    @property
    def brokers(self) -> list[Member]:
        """Members that serve clients."""
        return [each for each in self.members.values() if "broker" in each.roles]

    @property
    def controller(self) -> Member:
        """The member that is the controller; it may also be a broker."""
        (found,) = [each for each in self.members.values() if "controller" in each.roles]
        return found

    @property
    def _others(self) -> list[Member]:
        return [each for each in self.members.values() if each is not self.controller]

    @property
    def bootstrap(self) -> str:
        """Addresses of all brokers, for clients' ``bootstrap.servers``."""
        return ",".join(each.bootstrap for each in self.brokers)

    # -- all together ---------------------------------------------------------------------------

    async def start(self) -> None:
        """Start the controller, then all brokers at once; returns when they are unfenced."""
        try:
            await self._start_all()
        except BaseException:
            await self.stop()
            raise

    async def _start_all(self) -> None:
        self._run_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            self._lock = FileLock(str(self._run_dir / _LOCK))
        except LockedError:
            raise ProcessError(
                f"another cluster runs from {self._run_dir}: name another --run-dir"
            ) from None
        except OSError as error:
            raise ProcessError(
                f"{self._run_dir / _LOCK}: {error.strerror}: name another --run-dir"
            ) from None
        self._clean()
        await self._start_members()
        self._server = await asyncio.start_server(self._serve, LOOPBACK, 0, limit=_LINE_BYTES_MAX)
        port = self._server.sockets[0].getsockname()[1]
        self._token = write_address(self._run_dir, port)
        if self.control is not None:
            await self.control.open()

    async def _start_members(self) -> None:
        await self._start(self.controller)
        await asyncio.gather(*(self._start(each) for each in self._others))
        await self._prepare(",".join(each.inside for each in self.brokers))

    async def reset(self) -> None:
        """Kill all processes, and start them again with nothing, at their old addresses."""
        if self._forget is None:
            raise ProcessError("this cluster keeps its data: only one in memory can be reset")
        running = [each for each in self.members.values() if each.process is not None]
        await asyncio.gather(*(self._signal(each, "kill") for each in running))
        self._forget()
        await self._start_members()
        if self.control is not None:
            await self.control.restored(self.members)

    async def stop(self) -> bool:
        """Stop all processes, the controller last; returns whether all of them stopped cleanly."""
        while self._spares:
            self._spares.pop().dismiss()
        if self.control is not None:
            await self.control.close()
        if self._server is not None:
            self._server.close()
            remove_address(self._run_dir)
        codes = await asyncio.gather(*(self._end(each) for each in self._others))
        codes.append(await self._end(self.controller))
        if self._lock is not None:
            self._lock.release()
        return all(code in (0, None) for code in codes)

    # -- one of them ----------------------------------------------------------------------------

    async def _start(self, member: Member) -> None:
        words = ["up", "--json", "--until-closed", "0"]
        words += [*member.arguments(), *self._joining(member)]
        member.process = process = await self._begin(member.label, words)
        member.state, member.is_expected_to_end = "starting", False
        member.ended.clear()
        loop = asyncio.get_running_loop()
        member.tasks = [loop.create_task(self._pass_on(member, process))]
        assert process.stdout is not None
        line = await process.stdout.readline()
        if not line:
            member.is_expected_to_end = True
            await self._wait(member, process)
            raise ProcessError(f"{member.label} did not start: see its log above")
        member.is_ready(json.loads(line))
        member.tasks.append(loop.create_task(self._wait(member, process)))

    async def _begin(self, label: str, words: Sequence[str]) -> Process:
        """Start a process with a ``fencepost`` command."""
        if self._spares:
            spare = self._spares.pop()
            await spare.run(label, words)
            return spare
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "fencepost_broker", *words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LINE_BYTES_MAX,
            # Ctrl-C is for this process, which stops them in order.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )

    def _joining(self, member: Member) -> list[str]:
        """Return the options by which a broker finds a controller in another process."""
        if member is self.controller:
            return []
        return ["-c", f"controller.quorum.bootstrap.servers={self.controller.controller}"]

    async def _pass_on(self, member: Member, process: Process) -> None:
        """Print the process's log with its label."""
        assert process.stderr is not None
        while line := await process.stderr.readline():
            sys.stderr.write(f"{member.label:<10} {line.decode(errors='replace')}")
            sys.stderr.flush()

    async def _wait(self, member: Member, process: Process) -> None:
        code = await process.wait()
        member.state, member.process = "down", None
        member.ended.set()
        if not member.is_expected_to_end:
            sys.stderr.write(f"{member.label:<10} exited unexpectedly with exit code {code}\n")
            sys.stderr.flush()

    async def _end(self, member: Member) -> int | None:
        """Stop a process; kill it after a time limit."""
        process = member.process
        if process is None:
            return None
        member.is_expected_to_end = True
        _tell_to_stop(process)
        try:
            async with asyncio.timeout(_GRACE_S):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
        code = await process.wait()
        await asyncio.gather(*member.tasks, return_exceptions=True)
        return code

    async def _signal(self, member: Member, what: str) -> None:
        process = member.process
        if process is None:
            raise ProcessError(f"{member.label} is not running: `fencepost broker start` starts it")
        if what in {"kill", "stop"}:
            member.is_expected_to_end = True
            process.kill() if what == "kill" else _tell_to_stop(process)
            await member.ended.wait()
            return
        number = _PAUSE if what == "pause" else _RESUME
        if number is None:
            raise ProcessError(f"this system cannot pause a process: {member.label} runs on")
        process.send_signal(number)
        member.state = "paused" if what == "pause" else "up"

    # -- commands -------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = json.loads(await reader.readline())
            if not secrets.compare_digest(asked["token"], self._token):
                return
            try:
                told = await self._do(asked)
            except ProcessError as error:
                told = {"error": str(error)}
            writer.write(json.dumps(told).encode() + b"\n")
            await writer.drain()
        except (OSError, ValueError, TypeError, KeyError):
            pass  # the command has ended, or the input is not from a command
        finally:
            writer.close()

    async def _do(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["do"] == "count":
            return {"verdicts": await self._count(asked["rules"])}
        if asked["do"] != "list":
            await self.do(asked["do"], asked["id"])
        return {
            "bootstrap": self.bootstrap,
            "members": [each.told() for each in self.members.values()],
        }

    async def _count(self, names: Sequence[str]) -> list[Any]:
        if self.control is None:
            return []
        verdicts = await self.control.count(names)
        return [each and {"fires": each.fires, "is_over": each.is_over} for each in verdicts]

    async def do(self, what: str, node_id: int) -> None:
        """Start, stop, kill, pause or resume a process; raises ``ProcessError``."""
        member = self.members.get(node_id)
        if member is None:
            known = ", ".join(map(str, self.members))
            raise ProcessError(f"there is no process {node_id} in this cluster, only {known}")
        if what == "start":
            if member.process is not None:
                raise ProcessError(f"{member.label} is running already")
            await self._start(member)
        else:
            if self.control is not None and what in {"kill", "stop"}:
                await self.control.goes_down(node_id)
            await self._signal(member, what)
        if self.control is not None and what in {"start", "resume"}:
            await self.control.came_up(node_id, is_started=what == "start")


def _tell_to_stop(process: Process) -> None:
    """Close its standard input, by which it stops in order; one that is paused goes on first."""
    assert process.stdin is not None
    if _RESUME is not None:
        with suppress(ProcessLookupError):
            process.send_signal(_RESUME)
    process.stdin.close()

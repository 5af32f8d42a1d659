"""The control port over what has happened: a recording, or a data directory of a stopped broker."""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fencepost_client.recordings.file import REQUEST_ID_BYTES, EntryKind, read_entries
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import read_request_head

from fencepost_broker.apis.request import Request
from fencepost_broker.server.control.controlled import controlled_recording
from fencepost_broker.server.control.port import ControlPort
from fencepost_broker.server.embedded.broker import Broker
from fencepost_broker.storage.log import StorageError

if TYPE_CHECKING:
    from fencepost_broker.network.dispatcher import Watcher
    from fencepost_broker.observability.logging import LazyLogs

_SIZE: Final = bytes(4)
"""In place of the size before an answer, which a recording does not have."""

_FOLDER: Final = stat.S_IRWXU
_FILE: Final = stat.S_IRUSR | stat.S_IWUSR


class _RecordedConnection:
    """A connection of a recording, as far as watchers look at one."""

    client_software_name = client_software_version = listener = user = ""
    transport = None

    def __init__(self, number: int) -> None:
        self.client_host = f"connection-{number}"


class ShownRecording:
    """A control port that shows the requests of a recording, and the steps of transactions."""

    on_failure: Callable[[str], None]
    """Not called: nothing can fail later."""

    def __init__(
        self, path: Path, control: str, control_token_file: str | None, logs: LazyLogs
    ) -> None:
        self.watcher: Watcher[Any] | None = None
        """The watcher that gets the recorded requests."""
        self.control = ""
        """``host:port`` of the control port, once it is started."""
        self._path = path
        self._now_us = 0
        self._ended_us = int(path.stat().st_mtime * 1_000_000)
        self._began_us = self._ended_us
        made = controlled_recording(self, logs, self._now_ms, self._now_ns)
        self._port = ControlPort(control, control_token_file, made, logs.area("server"))

    async def start(self) -> None:
        """Read the recording, and listen; raises ``RecordingError``, ``ListenError``."""
        with self._path.open("rb") as file:
            entries = list(read_entries(file))
        if entries:  # its last entry was written when the file was
            self._began_us = self._ended_us - entries[-1].time_us
        connections: dict[int, _RecordedConnection] = {}
        asked: dict[tuple[int, int], Request] = {}
        assert self.watcher is not None
        for kind, number, self._now_us, data in entries:
            connection = connections.setdefault(number, _RecordedConnection(number))
            if kind is EntryKind.REQUEST:
                request = _request(connection, data)
                if request is not None:
                    asked[number, request.correlation_id] = request
                    self.watcher.requested(request)
            elif kind is EntryKind.ANSWER:
                answered = asked.pop((number, int.from_bytes(data[:4], signed=True)), None)
                if answered is not None:
                    self.watcher.answered(answered, [_SIZE, data])
            else:
                self.watcher.closed(connection, data.decode(errors="replace"))
        self.control = await self._port.open()

    async def stop(self) -> bool:
        """Close the port."""
        await self._port.close()
        return True

    def _now_ms(self) -> int:
        return (self._began_us + self._now_us) // 1000

    def _now_ns(self) -> int:
        return self._now_us * 1000


def _request(connection: Any, data: bytes) -> Request | None:
    """Return a recorded request; ``None`` if its content is hidden."""
    frame = memoryview(data)
    if len(frame) <= REQUEST_ID_BYTES:
        return None
    try:
        api_key, version, correlation_id, client_id, body = read_request_head(frame)
    except RemoteProtocolError:
        return None
    return Request(connection, api_key, version, correlation_id, client_id, frame, body)


class ShownDirectory:
    """A broker in a copy of a data directory, whose time stands still where the data ends."""

    on_failure: Callable[[str], None]
    """Called with the reason if the broker cannot go on."""

    def __init__(
        self, path: Path, control: str, control_token_file: str | None, logs: LazyLogs
    ) -> None:
        self._path = path
        self._options = {"control": control, "control_token_file": control_token_file, "logs": logs}
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._broker: Broker | None = None

    @property
    def control(self) -> str:
        """``host:port`` of the control port, once it is started."""
        assert self._broker is not None
        return self._broker.control or ""

    async def start(self) -> None:
        """Copy the directory, and start a broker in the copy; raises what ``Broker`` raises."""
        from fencepost_broker.server.clock import StateClock

        self._copy = tempfile.TemporaryDirectory(prefix="fencepost-console-")
        folder = Path(self._copy.name) / "data"
        try:
            copy_to_change(self._path, folder)
            ended_s = max(each.stat().st_mtime for each in self._path.rglob("*.log"))
            clock = StateClock(manual=True, at_ms=int(ended_s * 1000))
            options: dict[str, Any] = {
                **self._options, "data_dir": folder, "clock": clock, "port": 0,
            }  # fmt: skip
            self._broker = Broker(**options)
            self._broker.on_failure = self.on_failure
            await self._broker.start()
        except BaseException:
            self._copy.cleanup()
            raise

    async def stop(self) -> bool:
        """Stop the broker, and remove the copy."""
        assert self._broker is not None
        assert self._copy is not None
        is_clean = await self._broker.stop()
        self._copy.cleanup()
        return is_clean


def copy_to_change(folder: Path, to: Path) -> None:
    """Copy a folder, which may be for reading only, so that its copy can be written."""
    try:
        shutil.copytree(folder, to)
    except shutil.Error as error:
        [first, *others] = error.args[0]
        path, _, why = first
        reason = why.partition("] ")[2].partition(": '")[0] or why
        more = f" (and {len(others)} more)" if others else ""
        raise StorageError("copy", path, f"{reason}{more}") from None
    for each in (to, *to.rglob("*")):
        each.chmod(each.stat().st_mode | (_FOLDER if each.is_dir() else _FILE))


def is_data_directory(path: Path) -> bool:
    """Whether a folder has logs of a broker."""
    return path.is_dir() and any(path.glob("*/*.log"))

"""What only POSIX has stands in a few files, each with something else for Windows."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PARTS: Final = ("protocol", "client", "broker", "pipeline")
MODULES: Final = {"fcntl", "grp", "pty", "pwd", "resource", "select", "syslog", "termios", "tty"}
NAMES: Final = {
    "os": {
        "O_DIRECTORY", "O_NONBLOCK", "chown", "fchmod", "fdatasync", "fork", "forkpty", "getgid",
        "getuid", "kill", "killpg", "mkfifo", "nice", "pidfd_open", "posix_fallocate",
        "posix_spawn", "pread", "preadv", "pwrite", "pwritev", "register_at_fork", "sendfile",
        "setsid", "statvfs", "uname", "wait4", "waitpid", "waitstatus_to_exitcode",
    },
    "signal": {
        "SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGSTOP", "SIGUSR1",
        "SIGUSR2", "pidfd_send_signal", "setitimer",
    },
    "socket": {"AF_UNIX", "SO_REUSEPORT", "send_fds", "socketpair"},
    "asyncio": {"open_unix_connection", "start_unix_server"},
}  # fmt: skip
OF_LOOPS: Final = {"add_reader", "add_signal_handler", "add_writer", "remove_reader"}
"""Methods that Windows' own event loop does not have."""

BROKER: Final = "broker/fencepost_broker/"
ADAPTERS: Final = {
    BROKER + "cli/cluster/control_socket.py": "a directory of the user's own for os.getuid",
    BROKER + "cli/cluster/prefork.py": "not used: processes start a new interpreter",
    BROKER + "cli/commands/parent.py": "a pipe and a thread for os.pidfd_open, or standard input",
    BROKER + "cli/commands/readiness.py": "os.fstat for fcntl",
    BROKER + "cli/machine.py": "no limit without resource",
    BROKER + "network/listeners.py": "listeners are closed at once where there are no readers",
    BROKER + "network/tap/port.py": "all of the tap is made at the start",
    BROKER + "observability/tap/screen.py": "KeyboardInterrupt for handlers of signals",
    BROKER + "server/control/values/__main__.py": "no limit without resource",
    BROKER + "server/crash.py": "SIGTERM for SIGKILL",
    BROKER + "server/loop_thread.py": "nothing to forget where there is no fork",
    BROKER + "server/running.py": "signal.signal and a thread for signals and pipes",
    BROKER + "storage/disk/directory_lock.py": "msvcrt for fcntl",
    BROKER + "storage/disk/files.py": "seeks for pread and pwrite, ftruncate for posix_fallocate",
    BROKER + "storage/disk/memory_chunks.py": "seeks for pread and pwrite",
    BROKER + "storage/disk/read_memory.py": "files.py reads into new memory where maps have a size",
    "client/fencepost_client/clients/blocking/portal.py": "nothing to forget where is no fork",
    "client/fencepost_client/commands/terminal.py": "KeyboardInterrupt for handlers of signals",
}
"""Files that work without, and how."""


def used(path: Path) -> Iterator[str]:
    """What a file uses of POSIX alone; a name in a string, as for getattr, is looked up."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names if each.name in MODULES)
            case ast.ImportFrom(module=str(module), names=names):
                if module in MODULES:
                    yield module
                of = NAMES.get(module, set())
                yield from (f"{module}.{each.name}" for each in names if each.name in of)
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name in NAMES.get(
                module, ()
            ):
                yield f"{module}.{name}"
            case ast.Attribute(attr=name) if name in OF_LOOPS:
                yield f"loop.{name}"


def sources() -> dict[str, set[str]]:
    found = {}
    for part in PARTS:
        for path in (ROOT / part).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            if "/generated/" not in name and "/simulation/" not in name:
                found[name] = set(used(path))
    return {name: names for name, names in found.items() if names}


def test_what_only_posix_has_is_used_in_adapters_only() -> None:
    elsewhere = {name: names for name, names in sources().items() if name not in ADAPTERS}
    assert elsewhere == {}, "use what every system has, or add a twin and name the file here"


def test_no_file_is_named_in_vain() -> None:
    assert ADAPTERS.keys() - sources().keys() == set()


def test_the_names_are_those_of_this_system() -> None:
    """A name with a typing error would never be found."""
    assert os.name == "posix", "this test reads sources, and is for one system"
    for module, names in NAMES.items():
        known = vars(__import__(module))
        newer = {"pidfd_open", "pidfd_send_signal"}
        assert names - newer - known.keys() == set()


def test_no_path_in_the_repository_is_refused_by_windows() -> None:
    reserved = {"aux", "con", "nul", "prn", *(f"com{n}" for n in range(10))}
    paths = [path for part in (*PARTS, "tests", "docs", "schemas") for path in named(ROOT / part)]
    assert len(paths) > 500
    assert [each for each in paths if set(each.name) & set('<>:"|?*\\')] == []
    assert [each for each in paths if each.name.partition(".")[0].lower() in reserved] == []
    lower = [each.as_posix().lower() for each in paths]
    assert len(set(lower)) == len(lower), "two names that differ by case only"


def named(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        folders[:] = set(folders) - {"__pycache__", "target", "node_modules"}
        yield from (Path(where) / name for name in (*folders, *files))

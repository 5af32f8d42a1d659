"""``fencepost up``: a broker in the foreground.

Without a data directory everything is kept in memory and gone at exit.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.commands import Command

from fencepost_broker.adapters.logging import add_log_arguments, logs_from
from fencepost_broker.settings.arguments import add_settings_arguments, settings_from
from fencepost_broker.settings.errors import SettingsError

if TYPE_CHECKING:
    from fencepost_broker.node import Address
    from fencepost_broker.settings import Settings

DEFAULT_PORT: Final = 9092
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``up``."""
    parser.add_argument("--host", help="the address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, help="the port to listen on (9092; 0: a free one)")
    parser.add_argument("--data-dir", metavar="DIR", help="keep topics here, in Kafka's own files")
    parser.add_argument(
        "--topic", action="append", default=[], metavar="NAME[:PARTITIONS]",
        help="create a topic at start, unless it exists",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="tell in JSON when it is ready")
    parser.add_argument("--pid-file", metavar="FILE", help="write the process id here when ready")
    add_log_arguments(parser)
    add_settings_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run a broker until it is told to stop."""
    try:
        topics = [_topic(text) for text in options.topic]
        settings = settings_from(options, _overrides(options))
    except (SettingsError, ValueError) as error:
        return _fail(str(error), EXIT_USAGE)
    from fencepost_broker.adapters.process import BrokerProcess, run_loop, run_until_stopped
    from fencepost_broker.log import StorageError

    try:
        log = logs_from(options, sys.stderr, _wall_ms).area("server")
        process = BrokerProcess(settings, _disk(settings), log)

        def ready(addresses: list[Address]) -> None:
            for name, partitions in topics:
                _create(process.node, name, partitions)
            _announce(options, settings, addresses)

        return run_loop(run_until_stopped(process, ready))
    except (StorageError, ValueError) as error:
        return _fail(str(error), EXIT_FAILED)
    except OSError as error:
        return _fail(f"cannot listen: {error.strerror or error}", EXIT_FAILED)
    except KeyboardInterrupt:
        return 130


def _wall_ms() -> int:
    from time import time  # noqa: TID251 (the command is an edge)

    return int(time() * 1000)


def _overrides(options: argparse.Namespace) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if options.host is not None or options.port is not None:
        host = "127.0.0.1" if options.host is None else options.host
        host = f"[{host}]" if ":" in host else host
        port = DEFAULT_PORT if options.port is None else options.port
        made["listeners"] = f"PLAINTEXT://{host}:{port}"
    if options.data_dir is not None:
        made["log.dirs"] = options.data_dir
    return made


def _disk(settings: Settings) -> Any:
    from fencepost_broker.adapters.disk_files import FileDisk
    from fencepost_broker.adapters.disk_memory import MemoryBudget, MemoryDisk, SpillFile

    folders = settings.data_dirs
    if not folders:
        return MemoryDisk(MemoryBudget(settings.memory_max_bytes, SpillFile()))
    if len(folders) > 1:
        raise ValueError(f"one data directory is supported, {len(folders)} are given")
    return FileDisk(folders[0])


def _topic(text: str) -> tuple[str, int]:
    name, colon, partitions = text.partition(":")
    if not name or (colon and not partitions.isdigit()) or partitions == "0":
        raise ValueError(f"--topic {text}: it must be NAME or NAME:PARTITIONS")
    return name, int(partitions) if partitions else -1


def _create(node: Any, name: str, partitions: int) -> None:
    from fencepost_protocol.errors import ErrorCode
    from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest

    result = node.command(CreateTopicsRequest(topics=[CreatableTopic(name, partitions, -1)]))
    code = result.topics[0].error_code
    if code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
        raise ValueError(f"--topic {name}: {result.topics[0].error_message}")


def _announce(options: argparse.Namespace, settings: Settings, addresses: list[Address]) -> None:
    bootstrap = ",".join(
        f"[{each.host}]:{each.port}" if ":" in each.host else f"{each.host}:{each.port}"
        for each in addresses
    )
    kept = settings.data_dirs[0] if settings.data_dirs else None
    if options.pid_file:
        Path(options.pid_file).write_text(f"{os.getpid()}\n", encoding="ascii")
    if options.json:
        line = json.dumps({"bootstrap": bootstrap, "pid": os.getpid(), "data_dir": kept})
    else:
        where = f"in {kept}" if kept else "in memory, gone at exit"
        line = f"ready at {bootstrap} (topics are kept {where})"
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _fail(reason: str, code: int) -> int:
    sys.stderr.write(f"fencepost up: {reason}\n")
    return code


COMMAND: Final = Command("up", "run a broker in the foreground", add_arguments, run)

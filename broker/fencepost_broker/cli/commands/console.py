"""``fencepost console``: look at a recording or a data directory in the browser."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from fencepost_client.commands.output import write
from fencepost_protocol.commands import Command, help_as_written

from fencepost_broker.cli.commands.control_options import CONSOLE_PORT, add_control_options
from fencepost_broker.observability.logging import add_log_arguments, logs_from

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_ADDRESS: Final = 3

EPILOG: Final = f"""\
examples:
  fencepost console traffic.fprec             the requests that `fencepost record` wrote
  fencepost console ./data                    topics, groups and transactions of a stopped broker
  fencepost console ./data --console 0        at a free port, not at {CONSOLE_PORT}
A data directory is copied first: what is done in the page changes the copy, which is removed in the
end. Its time stands still where its data ends.
exit code: 0 stopped, 1 it cannot be read, 2 invalid arguments, 3 cannot listen on the address
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.add_argument(
        "path", type=Path, metavar="RECORDING|DIRECTORY",
        help="a file of `fencepost record`, or the data directory of a broker that is stopped",
    )  # fmt: skip
    add_control_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON when it is ready")
    add_log_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Show it until the command is stopped, and return the exit code."""
    from fencepost_client.recordings.file import RecordingError

    from fencepost_broker.config.errors import SettingsError
    from fencepost_broker.network.listeners import ListenError
    from fencepost_broker.server.clock import wall_ms
    from fencepost_broker.server.errors import BrokerFailedError
    from fencepost_broker.server.offline import ShownDirectory, ShownRecording, is_data_directory
    from fencepost_broker.server.running import run_loop, run_until_stopped
    from fencepost_broker.storage.log import StorageError

    path: Path = options.path
    if not path.is_file() and not is_data_directory(path):
        return _fail(f"{path}: it is neither a file nor a data directory with logs", EXIT_USAGE)
    make = ShownRecording if path.is_file() else ShownDirectory
    logs = logs_from(options, sys.stderr, wall_ms)
    shown = make(path, options.control or CONSOLE_PORT, options.control_token_file, logs)

    def ready() -> None:
        line = f"console and control port at http://{shown.control}"
        write(json.dumps({"control": shown.control}) if options.json else line)
        sys.stdout.flush()

    try:
        return run_loop(run_until_stopped(shown, ready))
    except ListenError as error:
        return _fail(str(error), EXIT_ADDRESS)
    except SettingsError as error:
        return _fail(str(error), EXIT_USAGE)
    except (RecordingError, StorageError, BrokerFailedError, OSError) as error:
        return _fail(f"{path}: {error}", EXIT_FAILED)


def _fail(reason: str, code: int) -> int:
    sys.stderr.write(f"fencepost console: {reason}\n")
    return code


COMMAND: Final = Command(
    "console", "look at a recording or a data directory in a browser", add_arguments, run
)

"""Commands over the SDK, from their connection to output, errors and the exit code."""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from fencepost_protocol.primitives import uuid_text

from fencepost_client.commands.errors import (
    InterruptedRunError,
    NotDoneError,
    NotYetError,
    UsageError,
)
from fencepost_client.commands.text import printable, table
from fencepost_client.config.kafka_names import ADMIN_NAMES
from fencepost_client.errors import ConfigError, KafkaError

if TYPE_CHECKING:
    from fencepost_client.clients.admin import Admin

T = TypeVar("T")

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130
_PAUSE_S: Final = 0.1

Action: TypeAlias = "Callable[[Admin, argparse.Namespace], Awaitable[None]]"


def run_subcommand(actions: Mapping[str, Action], options: argparse.Namespace) -> int:
    """Do what a subcommand over the Admin is for; gives the exit code."""
    return run_to_exit_code(options, lambda: _run(actions[options.subcommand], options))


def run_to_exit_code(
    options: argparse.Namespace, work: Callable[[], Coroutine[Any, Any, None]]
) -> int:
    """Run what a command does to its end, whatever that is; gives the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # tests put others in its place
            stream.reconfigure(errors="backslashreplace")  # names may not fit the terminal's set
    try:
        asyncio.run(work())
        sys.stdout.flush()
    except (UsageError, ConfigError) as error:
        print_error(options, str(error))
        return EXIT_USAGE
    except NotDoneError as error:
        print_error(options, str(error))
        return EXIT_FAILED
    except KafkaError as error:
        failed = [each for each in error.outcomes.values() if isinstance(each, KafkaError)]
        for each in dict.fromkeys(failed or [error]):
            print_error(options, str(each))
        return EXIT_FAILED
    except (KeyboardInterrupt, InterruptedRunError, asyncio.CancelledError):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        discard_output()  # whoever was reading has seen enough
    return 0


async def _run(action: Action, options: argparse.Namespace) -> None:
    # Who produces does not pay for these.
    from fencepost_client.clients.admin import Admin
    from fencepost_client.commands.bootstrap import check_that_a_broker_answers, client_config

    config = client_config(options, ADMIN_NAMES, ("default.api.timeout.ms", "request.timeout.ms"))
    admin = Admin.from_config(config)
    await check_that_a_broker_answers(config, options.timeout)
    async with admin:
        await action(admin, options)


async def retry_until_timeout(attempt: Callable[[], Awaitable[T]], timeout_s: float) -> T:
    """Try until it is no ``NotYetError`` any more, or the time is over."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeout_s
    while True:
        try:
            return await attempt()
        except NotYetError:
            if loop.time() >= end:
                raise
        await asyncio.sleep(_PAUSE_S)


def discard_output() -> None:
    """Nothing can be written any more; Python's last flush must not complain either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_error(options: argparse.Namespace, reason: str) -> None:
    """Say something where people read it."""
    name = " ".join(filter(None, ("fencepost", options.command_name, options.subcommand)))
    sys.stderr.write(f"{name}: {printable(reason)}\n")


# -- output ---------------------------------------------------------------------------------------


def write(line: str) -> None:
    """A line for people."""
    sys.stdout.write(f"{printable(line)}\n")


def write_table(headings: Sequence[str], rows: Iterable[Sequence[object]], nothing: str) -> None:
    """Rows under their headings; what there is none of is said where no program reads it."""
    rows = list(rows)
    if not rows:
        sys.stderr.write(f"{nothing}\n")
        return
    for line in table(headings, rows):
        write(line)


def write_json(told: Any) -> None:
    """For programs."""
    sys.stdout.write(f"{json.dumps(plain(told), indent=2)}\n")


def plain(value: Any) -> Any:
    """A result as JSON has it: enumerations by their names, ids as Kafka prints them."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, bytes):
        return uuid_text(value)
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value

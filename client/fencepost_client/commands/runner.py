"""Runs a command over the SDK: from its options to its exit code."""

from __future__ import annotations

import argparse
import asyncio
import io
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from fencepost_client.commands.errors import (
    InterruptedRunError,
    NotDoneError,
    NotYetError,
    UsageError,
)
from fencepost_client.commands.output import discard_output, print_error
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
    """Run a subcommand with an Admin; returns the exit code."""
    return run_to_exit_code(options, lambda: _run(actions[options.subcommand], options))


def run_to_exit_code(
    options: argparse.Namespace, work: Callable[[], Coroutine[Any, Any, None]]
) -> int:
    """Run a command, print its error if there is one, and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # tests replace it
            stream.reconfigure(errors="backslashreplace")  # the terminal may lack characters
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
        discard_output()  # the reader of the pipe has ended
    return 0


async def _run(action: Action, options: argparse.Namespace) -> None:
    # Imported here, because producing needs none of it.
    from fencepost_client.clients.admin import Admin
    from fencepost_client.commands.bootstrap import check_that_a_broker_answers, client_config

    config = client_config(options, ADMIN_NAMES, ("default.api.timeout.ms", "request.timeout.ms"))
    admin = Admin.from_config(config)
    await check_that_a_broker_answers(config, options.timeout)
    async with admin:
        await action(admin, options)


async def retry_until_timeout(attempt: Callable[[], Awaitable[T]], timeout_s: float) -> T:
    """Repeat an attempt while it raises ``NotYetError``, until the time is over."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeout_s
    while True:
        try:
            return await attempt()
        except NotYetError:
            if loop.time() >= end:
                raise
        await asyncio.sleep(_PAUSE_S)

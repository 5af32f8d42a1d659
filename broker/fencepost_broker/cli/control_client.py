"""A client of the control port, for commands: HTTP and JSON by the standard library.

def run(options: argparse.Namespace) -> int:
    return run_at_control_port(options, lambda port: show(port.ask("GET", "/v1/clock")))
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from fencepost_client.commands.output import discard_output
from fencepost_client.commands.text import printable

from fencepost_broker.config.values.endpoints import parse_control_address

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_CODES: Final = (
    "exit code: 0 done, 1 the control port cannot be reached or refused it, 2 invalid arguments,\n"
    "130 interrupted\n"
)
"""The end of the help of a command that uses this client."""
_SECONDS: Final = 30.0


class ControlError(Exception):
    """The control port cannot be reached, or has refused a request."""


def add_control_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where the control port is."""
    parser.add_argument(
        "--control", required=True, type=_address, metavar="HOST:PORT",
        help="the broker's control port: see `fencepost up --control`",
    )  # fmt: skip
    parser.add_argument(
        "--control-token-file", metavar="FILE", help="a file with the control port's token"
    )


def add_example(parser: argparse.ArgumentParser, command: str = "") -> None:
    """Show a subcommand with all that it requires, once its arguments were added."""
    words = [command or parser.prog]
    for each in parser._actions:
        if each.required:
            value = str(each.metavar or next(iter(each.choices or ()), "..."))
            words += [*each.option_strings[:1], value]
    parser.epilog = f"examples:\n  {' '.join(words)}\n{EXIT_CODES}"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


def run_at_control_port(
    options: argparse.Namespace, action: Callable[[ControlClient], None]
) -> int:
    """Carry out a command with a client for its options; returns the exit code."""
    try:
        token = None
        if options.control_token_file is not None:
            token = Path(options.control_token_file).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        return _fail(
            options, f"--control-token-file {options.control_token_file}: {reason}", EXIT_USAGE
        )
    try:
        host, port = options.control
        action(ControlClient(host, port, token))
    except ControlError as error:
        return _fail(options, str(error), EXIT_FAILED)
    except BrokenPipeError:
        discard_output()
    return 0


class ControlClient:
    """Asks one control port."""

    def __init__(self, host: str, port: int, token: str | None = None) -> None:
        self._host = host or "127.0.0.1"
        self._port = port
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def ask(self, method: str, path: str, body: Any = None, **query: str | int) -> Any:
        """Return the decoded answer, or ``None`` if it has no content.

        Raises ``ControlError`` if the request is refused. ``path`` is quoted already: see
        ``path_of``.
        """
        with self._answer(method, path, body, query) as answer:
            content = answer.read()
        return json.loads(content) if content else None

    def events(self, *kinds: str) -> Iterator[dict[str, Any]]:
        """Yield events of these kinds, or of all, until the broker stops.

        ``type`` is the kind of each; an event ``lost`` counts those that this reader was too slow
        for.
        """
        query = {"kinds": ",".join(kinds)} if kinds else {}
        with self._answer("GET", "/v1/events", None, query) as answer:
            for line in answer:
                name, _, value = line.partition(b": ")
                if name == b"data":
                    yield json.loads(value)

    @contextmanager
    def _answer(
        self, method: str, path: str, body: Any, query: dict[str, Any]
    ) -> Iterator[HTTPResponse]:
        from http.client import HTTPConnection, HTTPException

        connection = HTTPConnection(self._host, self._port, timeout=_SECONDS)
        try:
            yield self._asked(connection, method, path, body, query)
        except BrokenPipeError:
            raise
        except (OSError, HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ControlError(
                f"the control port at {self._host}:{self._port} cannot be reached: {reason}"
            ) from error
        finally:
            connection.close()

    def _asked(
        self, connection: HTTPConnection, method: str, path: str, body: Any, query: dict[str, Any]
    ) -> HTTPResponse:
        headers = self._headers
        content = None
        if body is not None:
            content, headers = json.dumps(body), {**headers, "Content-Type": "application/json"}
        url = f"{path}?{urlencode(query)}" if query else path
        connection.request(method, url, content, headers)
        answer = connection.getresponse()
        if answer.status >= 400:
            raise ControlError(_told(answer))
        return answer


def path_of(*parts: str | int) -> str:
    """Return a path below /v1 with these parts, quoted."""
    return "/".join(["/v1", *(quote(str(part), safe="") for part in parts)])


def _told(answer: HTTPResponse) -> str:
    """Return why a request was refused."""
    try:
        problem = json.loads(answer.read())
        parts = problem.get("where"), problem["detail"], problem.get("advice")
    except (ValueError, KeyError, AttributeError):
        return f"this is not a control port: HTTP status {answer.status} {answer.reason}"
    where, detail, advice = parts
    return f"{f'{where}: ' if where else ''}{detail}{f'. {advice}' if advice else ''}"


def _address(text: str) -> tuple[str, int]:
    try:
        return parse_control_address(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _fail(options: argparse.Namespace, reason: str, code: int) -> int:
    sys.stderr.write(f"fencepost {options.command}: {printable(reason)}\n")
    return code

"""A client of the control port: HTTP and JSON by the standard library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

_SECONDS: Final = 30.0


class ControlError(Exception):
    """The control port cannot be reached, or has refused a request."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        """``status`` is that of HTTP, of a request that was refused."""
        super().__init__(reason)
        self.status = status


class ControlClient:
    """Asks one control port."""

    def __init__(self, host: str, port: int, token: str | None = None) -> None:
        self._host = host or "127.0.0.1"
        self._port = port
        self._token = token
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._of_broker: dict[str, int] = {}

    @property
    def address(self) -> str:
        """``HOST:PORT`` of the control port."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{host}:{self._port}"

    def of_broker(self, node_id: int) -> ControlClient:
        """Return a client that asks one broker of the cluster."""
        made = ControlClient(self._host, self._port, self._token)
        made._of_broker = {"broker": node_id}
        return made

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
                f"the control port at {self.address} cannot be reached: {reason}"
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
        query = self._of_broker | query
        url = f"{path}?{urlencode(query)}" if query else path
        connection.request(method, url, content, headers)
        answer = connection.getresponse()
        if answer.status >= 400:
            raise ControlError(_told(answer), answer.status)
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
    where = None if where == "body" else where  # it has made the body, and users have not
    return f"{f'{where}: ' if where else ''}{detail}{f'. {advice}' if advice else ''}"

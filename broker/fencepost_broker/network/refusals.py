"""Why a request is not served, and log lines that name its client; made only when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fencepost_protocol.apis import WITHOUT_SCHEMA
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.index import APIS

if TYPE_CHECKING:
    from fencepost_broker.network.connection import Connection


def unserved(api_key: int, version: int, accepted: tuple[int, int] | None) -> RemoteProtocolError:
    """Return the error for an API, or a version of it, that is not among the accepted ones."""
    entry = APIS.get(api_key)
    if entry is None and api_key not in WITHOUT_SCHEMA:
        return RemoteProtocolError("there is no such API", api=f"API key {api_key}")
    name = WITHOUT_SCHEMA[api_key] if entry is None else entry[0]
    reason = "this broker does not serve this API, and ApiVersions does not list it"
    if accepted is not None:
        lowest, highest = accepted
        age = "too old" if version < lowest else "newer and did not use ApiVersions"
        reason = f"only versions {lowest} to {highest} are served; the client is {age}"
    return RemoteProtocolError(reason, api=name, version=version)


def log_of(log: Any, connection: Connection) -> Any:
    """Return a logger whose lines name the connection."""
    bound = {"client": connection.client_host}
    transport = connection.transport
    if transport is not None and (peer := transport.get_extra_info("peername")):
        bound["client"] = f"{connection.client_host}:{peer[1]}"
    if connection.client_software_name:
        bound["software"] = connection.client_software_name
    return log.bind(**bound)

"""Which fault rules a proxy can carry out."""

from __future__ import annotations

from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.generated.index import APIS, ApiKey

from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.apis.served import Served
from fencepost_broker.faults.rule import Rule, Run


def _not_served(context: object, request: Request, message: object) -> Answer | None:
    del context, request, message
    raise LocalProtocolError("a proxy answers no requests")


def proxied() -> dict[int, Served]:
    """Return the APIs that rules may be for: all that have a schema."""
    known = {api.key.value: api for api in SERVED}
    return {key: known.get(key) or Served(ApiKey(key), _not_served, "") for key in APIS}


def why_not(rule: Rule) -> str:
    """Say why a proxy cannot carry out a rule; nothing if it can."""
    if isinstance(rule.act, Run):
        return f"act: a proxy cannot {rule.act.type}: it changes the broker itself"
    if rule.while_ is not None:
        return "while: a proxy does not know the states of transactions and groups"
    if rule.match.user is not None:
        return "user: a proxy does not know who is logged in"
    if rule.match.listener is not None:
        return "listener: a proxy does not know the upstream broker's listeners"
    return ""

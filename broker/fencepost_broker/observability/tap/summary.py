"""Summary of an event: its decoded frame, its API, its line."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost_protocol.dissect.node import Node
from fencepost_protocol.dissect.summary import Summary, summarise
from fencepost_protocol.dissect.tree import (
    REQUEST_HEAD,
    Exchange,
    request_of,
    request_tree,
    response_tree,
)

from fencepost_broker.observability.tap.datagrams import Event, EventKind


def tree_of(event: Event, *, records: bool) -> Node | None:
    """Return the dissected frame of an event, if it has one."""
    if not event.frame:
        return None
    if event.kind is EventKind.REQUEST:
        return request_tree(event.frame, sized=False, records=records)
    exchange = Exchange(event.api_key, event.version)
    return response_tree(event.frame, exchange, sized=False, records=records)


def api_name(event: Event) -> str:
    """Return the API and version, as in ``Produce v9``."""
    if event.kind is EventKind.REQUEST and len(event.frame) >= REQUEST_HEAD.size:
        return str(request_of(event.frame))
    return str(Exchange(event.api_key, event.version))


def summary_of(event: Event, tree: Node, names: Mapping[bytes, str]) -> Summary:
    """Return a summary of an event's frame; ``names`` are topic names by id."""
    suffix = "Request" if event.kind is EventKind.REQUEST else "Response"
    message = f"{Exchange(event.api_key, event.version).name}{suffix}"
    return summarise(message, tree, names, is_whole=not event.is_cut)

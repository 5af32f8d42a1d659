"""The output of ``fencepost tap``: events in, lines out."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from typing import Any, Final

from fencepost_protocol.dissect.filters import Following
from fencepost_protocol.dissect.render import Style
from fencepost_protocol.dissect.summary import Summary, topic_ids_in

from fencepost_broker.observability.tap import lines
from fencepost_broker.observability.tap.client import TapClient, TapError
from fencepost_broker.observability.tap.datagrams import Event, EventKind
from fencepost_broker.observability.tap.summary import summary_of, tree_of

NAMES_MAX: Final = 100_000
"""Number of topic names that are kept; clients can make up any number of ids."""


def watch(host: str, port: int, api_keys: list[int], options: argparse.Namespace) -> int:
    """Print events until Ctrl-C, and return the exit code."""
    return asyncio.run(_watch(host, port, api_keys, options))


def print_stats(host: str, port: int, *, as_json: bool) -> int:
    """Print the broker's counters, and return the exit code."""
    return asyncio.run(_stats(host, port, as_json=as_json))


async def _watch(host: str, port: int, api_keys: list[int], options: argparse.Namespace) -> int:
    tap = TapClient(
        host, port, api_keys=api_keys, client_ids=options.client, snap_bytes=options.snap
    )
    main = asyncio.current_task()
    assert main is not None
    with suppress(NotImplementedError):  # Windows: Ctrl-C is a KeyboardInterrupt
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, main.cancel)
    shown = 0
    try:
        async with tap:
            assert tap.broker is not None
            sys.stderr.write(
                f"watching node {tap.broker.node_id} of cluster {tap.broker.cluster_id};"
                " Ctrl-C ends\n"
            )
            screen = Screen(tap, options)
            async for event in tap.events():
                shown += await screen.show(event)
                if options.count and shown >= options.count:
                    break
    except asyncio.CancelledError:
        pass
    finally:
        if tap.broker is not None:
            sys.stderr.write(f"{tap.seen} events seen, {shown} shown, {tap.lost} lost\n")
    return 0


class Screen:
    """Prints the events that options select."""

    def __init__(self, tap: TapClient, options: argparse.Namespace) -> None:
        self._tap = tap
        self._options = options
        self._style = Style(colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ)
        self._following = Following(options.topic, options.transactional_id)
        self._names: dict[bytes, str] = {}
        self._nameless: set[bytes] = set()
        self._told_lost = 0

    async def show(self, event: Event) -> bool:
        """Print an event, if the options select it."""
        options = self._options
        self._tell_lost()
        tree = tree_of(event, records=options.verbose)
        summary = Summary()
        if tree is not None:
            await self._learn(topic_ids_in(tree))
            summary = summary_of(event, tree, self._names)
        exchange = (event.connection, event.correlation_id) if event.api_key >= 0 else None
        is_response = event.kind is EventKind.RESPONSE
        if not self._following.wants(exchange, summary, is_response=is_response):
            return False
        tree = tree if options.verbose else None
        if options.json:
            _write(lines.object_of(event, summary, tree, with_hex=options.hex))
            return True
        _write(lines.text_of(event, summary, self._style))
        if tree is not None:
            _write(lines.dissection_of(tree, self._style))
        if options.hex and event.frame:
            _write(lines.hex_of(event.frame))
        return True

    async def _learn(self, topic_ids: set[bytes]) -> None:
        """Ask for unknown names; an id without a name never gets one."""
        unknown = topic_ids - self._names.keys() - self._nameless
        if not unknown:
            return
        if len(self._names) + len(self._nameless) > NAMES_MAX:
            self._names.clear()
            self._nameless.clear()
        with suppress(TapError):  # then it is shown by its id
            self._names |= await self._tap.topic_names(unknown)
            self._nameless |= unknown - self._names.keys()

    def _tell_lost(self) -> None:
        lost = self._tap.lost - self._told_lost
        if lost > 0:
            self._told_lost += lost
            _write(json.dumps({"lost": lost}) if self._options.json else f"… {lost} events lost")


async def _stats(host: str, port: int, *, as_json: bool) -> int:
    async with TapClient(host, port, subscribe=False) as tap:
        stats = await tap.stats()
    if as_json:
        _write(json.dumps(stats))
        return 0
    for line in _table(stats, ""):
        _write(line)
    return 0


def _table(value: Any, name: str) -> list[str]:
    """Return counters as lines of a dotted name and a number."""
    if isinstance(value, dict):
        return [
            line
            for key, each in value.items()
            for line in _table(each, f"{name}.{key}" if name else key)
        ]
    return [f"{name} {value}"]


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()

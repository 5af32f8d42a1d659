"""The subcommands of ``fencepost configs``: ask, then write a table or JSON."""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_client.admin.configs import (
    Append,
    Change,
    ConfigResource,
    ConfigSource,
    ResourceKind,
    Subtract,
)
from fencepost_client.clients.admin import Admin
from fencepost_client.commands.errors import UsageError
from fencepost_client.commands.output import write_json, write_table
from fencepost_client.commands.runner import Action

_KINDS: Final = {
    "topic": ResourceKind.TOPIC,
    "broker": ResourceKind.BROKER,
    "logger": ResourceKind.BROKER_LOGGER,
    "group": ResourceKind.GROUP,
    "client-metrics": ResourceKind.CLIENT_METRICS,
}
_NOT_SET: Final = frozenset({ConfigSource.DEFAULT, ConfigSource.STATIC_BROKER})
_ALL_BROKERS: Final = "all"


def _resource(options: argparse.Namespace) -> ConfigResource:
    kind = _KINDS[options.kind]
    if kind == ResourceKind.BROKER and options.name == _ALL_BROKERS:
        return ConfigResource(kind, "")
    if kind in {ResourceKind.BROKER, ResourceKind.BROKER_LOGGER} and not options.name.isdecimal():
        raise UsageError(f"{options.name!r} is not a broker id: use a number, or 'all'")
    return ConfigResource(kind, options.name)


async def _list(admin: Admin, options: argparse.Namespace) -> None:
    kinds = None if options.kind is None else [_KINDS[options.kind]]
    found = await admin.list_config_resources(kinds)
    if options.json:
        write_json(found)
        return
    write_table(("KIND", "NAME"), [(each.kind.name, each.name) for each in found], "nothing")


async def _describe(admin: Admin, options: argparse.Namespace) -> None:
    resource = _resource(options)
    described = await admin.describe_configs([resource])
    found = [
        entry
        for _, entry in sorted(described[resource].items())
        if options.all or entry.source not in _NOT_SET
    ]
    if options.json:
        write_json(found)
        return
    write_table(
        ("NAME", "VALUE", "SOURCE"),
        [
            (
                entry.name,
                "(secret)" if entry.is_sensitive else entry.value,
                entry.source.name + (", read only" if entry.is_read_only else ""),
            )
            for entry in found
        ],
        "no setting is changed; --all shows the defaults",
    )


async def _alter(admin: Admin, options: argparse.Namespace) -> None:
    changes: dict[str, Change] = {}
    for name, change in [
        *options.set,
        *((name, None) for name in options.default),
        *((name, Append(value)) for name, value in options.append),
        *((name, Subtract(value)) for name, value in options.subtract),
    ]:
        if name in changes:
            raise UsageError(f"{name} is given twice")
        changes[name] = change
    if not changes:
        raise UsageError("no change is given: use --set, --default, --append or --subtract")
    await admin.alter_configs({_resource(options): changes}, validate_only=options.dry_run)


ACTIONS: Final[dict[str, Action]] = {"list": _list, "describe": _describe, "alter": _alter}

"""``fencepost transactions explain``: explanations as lines or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from fencepost_client.clients.admin import Admin
from fencepost_client.commands.errors import UsageError
from fencepost_client.commands.options import DEFAULT_BOOTSTRAP
from fencepost_client.commands.output import write, write_json
from fencepost_client.types import TopicPartition

from fencepost_broker.cli.explain.queries import Explainer
from fencepost_broker.observability.explained import (
    COMMAND,
    ExplainedPartition,
    ExplainedTransaction,
    lines_of_partition,
    lines_of_transaction,
)


async def explain(admin: Admin, options: argparse.Namespace) -> None:
    """Explain a transactional id or a partition."""
    if (options.id is None) == (options.place is None) or options.id == "":
        raise UsageError("give either a transactional id or --partition TOPIC:N")
    explainer = Explainer(admin, options.timeout)
    told: ExplainedTransaction | ExplainedPartition
    lines: Iterable[str]
    if options.id is not None:
        told = await explainer.transaction(options.id)
        lines = lines_of_transaction(told, _command_for(options))
    else:
        topic, colon, number = options.place.rpartition(":")
        if not colon or not topic or not (number.isascii() and number.isdigit()):
            raise UsageError(f"--partition {options.place}: it must be TOPIC:N, as in orders:0")
        told = await explainer.partition(TopicPartition(topic, int(number)))
        lines = lines_of_partition(told, _command_for(options))
    if options.json:
        write_json(told)
        return
    for line in lines:
        write(line)


def _command_for(options: argparse.Namespace) -> str:
    """Return how further commands for the same cluster begin, for advice that can be pasted."""
    where = f" --bootstrap {options.bootstrap}" if options.bootstrap != DEFAULT_BOOTSTRAP else ""
    settings = f" --command-config {options.command_config}" if options.command_config else ""
    return f"{COMMAND}{where}{settings}"

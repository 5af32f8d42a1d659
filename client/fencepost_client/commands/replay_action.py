"""What ``fencepost replay`` does."""

from __future__ import annotations

import argparse
import json
import sys

from fencepost_client.commands.bootstrap import client_config
from fencepost_client.commands.errors import NotDoneError, UsageError
from fencepost_client.commands.output import write
from fencepost_client.config.kafka_names import COMMON_NAMES, from_kafka_names
from fencepost_client.network.security import SecuritySettings, read_security
from fencepost_client.recordings.file import RecordingError
from fencepost_client.recordings.replaying import Replay, replay_file
from fencepost_client.recordings.result import Replayed


async def replay(options: argparse.Namespace) -> None:
    """Replay, and print what differs; raises ``NotDoneError`` if anything does."""
    config = client_config(options, COMMON_NAMES, ("request.timeout.ms",))
    settings = from_kafka_names(config, COMMON_NAMES)
    of_security = SecuritySettings.__annotations__
    security = read_security(**{k: v for k, v in settings.items() if k in of_security})
    try:
        found = await replay_file(
            options.file,
            Replay(options.bootstrap, security, options.timeout, progress_to=sys.stderr),
        )
    except RecordingError as error:
        raise UsageError(f"{options.file}: {error}") from error
    except OSError as error:
        raise UsageError(f"{options.file}: {error.strerror}") from error
    _print(found, as_json=options.json)
    if found.differences:
        raise NotDoneError(_summary(found))
    if not options.json:
        write(_summary(found))


def _print(found: Replayed, *, as_json: bool) -> None:
    if as_json:
        told = {
            "requests": found.requests,
            "compared": found.compared,
            "sooner": found.sooner,
            "differences": [each._asdict() for each in found.differences],
            "notes": found.notes,
        }
        write(json.dumps(told))
        return
    for difference in found.differences:
        write(str(difference))
    for note in found.notes:
        write(f"note: {note}")


def _summary(found: Replayed) -> str:
    count = len(found.differences)
    differences = {0: "no difference", 1: "1 difference"}.get(count, f"{count} differences")
    return f"{found.requests} requests sent, {found.compared} answers compared: {differences}"

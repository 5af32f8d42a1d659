"""``fencepost up --brokers N``: a controller and brokers, a process each."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fencepost_broker.adapters.process import run_loop, run_until_stopped
from fencepost_broker.adapters.supervising import CONTROLLER_ID, Member, MemberError, Supervisor
from fencepost_broker.adapters.supervision import default_run_dir
from fencepost_broker.topic_text import WantedTopic, read_topics

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from fencepost_broker.settings import Settings
    from fencepost_broker.settings.setting import Value

_COPIES_MAX: Final = 3
_COPIED: Final = (
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
    "default.replication.factor",
)


def cluster_defaults(brokers: int) -> dict[str, Value]:
    """Settings of a cluster of so many brokers, where nothing else is given."""
    return dict.fromkeys(_COPIED, min(brokers, _COPIES_MAX))


def run_cluster(options: argparse.Namespace, settings: Settings, port: int) -> int:
    """Run it until it is told to stop."""
    run_dir = Path(options.run_dir) if options.run_dir else default_run_dir()
    try:
        topics = read_topics(options.topic)
    except ValueError as error:
        sys.stderr.write(f"fencepost up: {error}\n")
        return 2
    members = members_of(options, settings, port)
    supervisor = Supervisor(run_dir, members, lambda bootstrap: create(bootstrap, topics))
    try:
        return run_loop(run_until_stopped(supervisor, lambda: _announce(options, supervisor)))
    except MemberError as error:
        sys.stderr.write(f"fencepost up: {error}\n")
        return 1


def members_of(options: argparse.Namespace, settings: Settings, port: int) -> list[Member]:
    """The controller, and as many brokers as are asked for."""
    given = []
    if options.config:
        given += ["--config", options.config]
    for word in options.settings:
        given += ["-c", word]
    given += ["--log-level", options.log_level]
    for word in options.log:
        given += ["--log", word]
    for name in _COPIED:
        given += ["-c", f"{name}={settings.shown(name)}"]
    controller = ["-c", "process.roles=controller", "-c", f"node.id={CONTROLLER_ID}"]
    if options.import_producer_id_block:
        controller += ["--import-producer-id-block", options.import_producer_id_block]
    members = [Member(CONTROLLER_ID, "controller", [*given, *controller, *_kept(options, "c")], 0)]
    for number in range(1, options.brokers + 1):
        broker = ["-c", "process.roles=broker", "-c", f"node.id={number}"]
        if options.host is not None:
            broker += ["--host", options.host]
        arguments = [*given, *broker, *_kept(options, str(number))]
        members.append(Member(number, f"broker-{number}", arguments, port if number == 1 else 0))
    return members


async def create(bootstrap: str, topics: Sequence[WantedTopic]) -> None:
    """Create topics once all brokers are there, so that all of them get their share."""
    if not topics:
        return
    from fencepost_client import Admin, KafkaError, NewTopic, TopicAlreadyExistsError

    async with Admin(bootstrap) as admin:
        for each in topics:
            wanted = NewTopic(each.name, each.partitions, configs=each.configs)
            try:
                await admin.create_topics([wanted])
            except TopicAlreadyExistsError:
                continue
            except KafkaError as error:
                raise MemberError(f"topic {each.name!r}: {error}") from error


def _kept(options: argparse.Namespace, name: str) -> list[str]:
    if not options.data_dir:
        return []
    folder = "controller" if name == "c" else f"broker-{name}"
    return ["--data-dir", os.fspath(Path(options.data_dir) / folder)]


def _announce(options: argparse.Namespace, supervisor: Supervisor) -> None:
    """One line for people, or for programs."""
    if options.json:
        members = [each.told() for each in supervisor.members.values()]
        told = {"bootstrap": supervisor.bootstrap, "pid": os.getpid(), "members": members}
        line = json.dumps(told)
    else:
        line = f"ready at {supervisor.bootstrap} ({len(supervisor.brokers)} brokers)"
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()

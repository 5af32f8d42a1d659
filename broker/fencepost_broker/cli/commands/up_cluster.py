"""``fencepost up --brokers N``: a controller and N brokers, each in a process of its own."""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fencepost_client.commands.errors import NotDoneError

from fencepost_broker.cli.cluster import prefork
from fencepost_broker.cli.cluster.control_socket import make_run_dir, run_dir_of
from fencepost_broker.cli.cluster.supervisor import (
    BETWEEN,
    CONTROLLER,
    CONTROLLER_ID,
    Member,
    Supervisor,
)
from fencepost_broker.cli.commands.readiness import NotReadyError, announce
from fencepost_broker.cli.commands.user_options import how_to_log_in, write_users
from fencepost_broker.cli.main import main
from fencepost_broker.config import Settings
from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.tables.inter_broker import parse_users
from fencepost_broker.config.topic_spec import WantedTopic, read_topics
from fencepost_broker.config.values.endpoints import Endpoint
from fencepost_broker.network.listeners import ListenError
from fencepost_broker.observability.log_levels import LEVELS
from fencepost_broker.observability.logging import import_structlog, logs_from
from fencepost_broker.ports import client_id_of_broker
from fencepost_broker.security.principals import ANONYMOUS
from fencepost_broker.server.bootstrap_users import check_users, settings_for
from fencepost_broker.server.clock import wall_ms
from fencepost_broker.server.embedded.settings import DEFAULT_HOST, certificate_settings
from fencepost_broker.server.errors import ProcessError
from fencepost_broker.server.running import run_loop, run_until_stopped

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from fencepost_broker.config.setting import Value

    Listen = Callable[[Mapping[str, int]], Sequence[str]]

_COPIES_MAX: Final = 3
NEEDED: Final = (
    "encodings.idna",
    "fencepost_broker.server.links.controller_link",
    "fencepost_broker.server.links.replica_fetchers",
    "fencepost_broker.apis.controller.allocate_producer_ids",
    "fencepost_broker.apis.controller.brokers",
    "fencepost_broker.apis.controller.envelope",
    "fencepost_broker.apis.controller.metadata_fetch",
    "fencepost_broker.apis.transactions.init_producer_id",
    "fencepost_broker.apis.fetch.followers",
    "fencepost_broker.apis.produce.delayed_produce",
    "fencepost_broker.controller.producer_ids",
    "fencepost_broker.controller.create_topics",
    "fencepost_broker.server.controller_server",
    "fencepost_broker.apis.forwarding",
    "fencepost_broker.controller.channel.remote",
    "fencepost_protocol.generated.default_principal_data",
    "fencepost_protocol.generated.error_texts",
    "uvloop",
)
"""Modules that a member imports until its first record is replicated, beyond those imported here.

A missing one costs time only.
"""
_COPIED: Final = (
    "offsets.topic.replication.factor",
    "share.coordinator.state.topic.replication.factor",
    "transaction.state.log.replication.factor",
    "default.replication.factor",
)

_USERS: Final = "users"
_CONTROL_FILE: Final = "control-token"
_TOKEN_BYTES: Final = 32
_FOR_NOW: Final = "controller-"
"""Prefix of a temporary folder in the run directory; the process id follows."""
_PER_PROCESS: Final = {
    "node.id": "leave it out",
    "process.roles": "leave it out (--combined: the controller is in the first broker)",
    "controller.quorum.bootstrap.servers": "leave it out",
    "listeners": "--host and --port set where the first broker listens",
    "advertised.listeners": "--host and --port set where the first broker listens",
    "log.dir": "--data-dir DIR gets a folder for each process",
    "log.dirs": "--data-dir DIR gets a folder for each process",
}
"""Settings that each process has of its own, and what to do instead."""


_EXIT_CODES: Final[dict[type[Exception], int]] = {ListenError: 3, SettingsError: 2}
"""Exit codes of the errors of a control port."""


def cluster_defaults(brokers: int) -> dict[str, Value]:
    """Return defaults of a cluster with this number of brokers."""
    return dict.fromkeys(_COPIED, min(brokers, _COPIES_MAX))


def run_cluster(options: argparse.Namespace, settings: Settings, port: int) -> int:
    """Run the cluster until it is stopped, and return the exit code."""
    try:
        _refuse_per_process_settings(settings)
        _check_authorizer(settings)
        check_users(options.users)
        certificate_settings(options.tls_cert, options.tls_key)
        run_dir = run_dir_of(options.run_dir)
        topics = read_topics(options.topic)
        make_run_dir(run_dir)
    except (ValueError, NotDoneError) as error:
        sys.stderr.write(f"fencepost up: {error}\n")
        return 2
    for_now = run_dir / f"{_FOR_NOW}{os.getpid()}"
    if options.users or _is_controlled(options, settings):
        for_now.mkdir(mode=0o700)
    if options.users:
        write_users(options.users, for_now / _USERS)
    try:
        members = members_of(options, settings, port, for_now, run_dir)
    except OSError as error:
        sys.stderr.write(f"fencepost up: --record {options.record}: {error.strerror}\n")
        return 1
    copies = _spares(len(members), options, settings)
    supervisor = Supervisor(
        run_dir,
        members,
        lambda bootstrap: create(bootstrap, topics),
        copies,
        clean=lambda: _remove_folders_but(for_now),
        forget=None if options.data_dir else partial(_empty, for_now),
    )
    if _is_controlled(options, settings):
        from fencepost_broker.faults.plan import read_plan
        from fencepost_broker.server.control.cluster_port import ClusterControl

        log = logs_from(options, sys.stderr, wall_ms).area("server")
        rules = [] if options.faults is None else read_plan(options.faults)
        supervisor.control = ClusterControl(
            supervisor,
            _write_token(for_now),
            settings.control_address,
            settings.control_token_file,
            log,
            rules,
        )
    try:
        ready = partial(_announce, options, supervisor)
        return run_loop(run_until_stopped(supervisor, ready, options.until_closed))
    except (ProcessError, NotReadyError, ListenError, SettingsError) as error:
        sys.stderr.write(f"fencepost up: {error}\n")
        return _EXIT_CODES.get(type(error), 1)
    finally:
        shutil.rmtree(for_now, ignore_errors=True)


def _empty(folder: Path) -> None:
    """Remove what the controller has written, but not what processes are started with."""
    for each in folder.glob("*"):
        if each.name in (_USERS, _CONTROL_FILE):
            continue
        shutil.rmtree(each) if each.is_dir() else each.unlink()


def _write_token(folder: Path) -> str:
    """Write the token of the processes' own control ports, which only the cluster's port knows."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    file = folder / _CONTROL_FILE
    file.touch(mode=0o600)
    file.write_text(token, encoding="ascii")
    return token


def _is_controlled(options: argparse.Namespace, settings: Settings) -> bool:
    """Return whether the processes need control ports: for the cluster's, or for fault rules."""
    return settings.control_address is not None or options.faults is not None


def _remove_folders_but(ours: Path) -> None:
    """Remove the folders of killed clusters; only one cluster uses a run directory."""
    for left in ours.parent.glob(f"{_FOR_NOW}*"):
        if left != ours:
            shutil.rmtree(left, ignore_errors=True)


def _refuse_per_process_settings(settings: Settings) -> None:
    """Raise ValueError for settings that differ from process to process."""
    for name, instead in _PER_PROCESS.items():
        if given := settings.given(name):
            raise ValueError(
                f"{name}{given[0].source.told}: with --brokers, each process has its own; {instead}"
            )


def _check_authorizer(settings: Settings) -> None:
    """Raise ValueError if the authorizer would keep the processes from each other."""
    if not settings.authorizer_class_name or settings.allow_everyone_if_no_acl_found:
        return
    if ANONYMOUS not in parse_users(settings.super_users):
        raise ValueError(
            "with --brokers, the processes connect to each other without a login, so"
            f" authorizer.class.name needs User:{ANONYMOUS} in super.users (separate users with ;)"
        )


def _spares(count: int, options: argparse.Namespace, settings: Settings) -> list[prefork.Spare]:
    """Return forked processes that have imported what members need."""
    is_told = LEVELS[options.log_level] <= LEVELS["info"]
    if prefork.can_be_made():
        if is_told:
            import_structlog()  # each says something at that level
        needed = [*NEEDED]
        if _is_controlled(options, settings):
            needed += ["fencepost_broker.server.control.port", "aiohttp"]
        if made := prefork.make(count, needed, main):
            return made
    if is_told:
        sys.stderr.write(
            "fencepost up: this process cannot be forked (no pidfd, several threads, or too little"
            " memory): each process of the cluster starts a new interpreter, which takes longer\n"
        )
    return []


def members_of(
    options: argparse.Namespace, settings: Settings, port: int, for_now: Path, run_dir: Path
) -> list[Member]:
    """Return the controller and the brokers; with ``--combined``, one broker is the controller.

    Without a data directory, the controller uses the folder ``for_now``: killed brokers get their
    data back from other brokers, but a controller has no other one to ask.
    """
    given = []
    if options.config:
        given += ["--config", options.config]
    for word in options.settings:
        given += ["-c", word]
    given += ["--log-level", options.log_level]
    for word in options.log:
        given += ["--log", word]
    of_brokers = ["--users-file", os.fspath(for_now / _USERS)] if options.users else []
    for option, path in (("--tls-cert", options.tls_cert), ("--tls-key", options.tls_key)):
        of_brokers += [] if path is None else [option, path]
    for name in _COPIED:
        given += ["-c", f"{name}={settings.shown(name)}"]
    for flag, is_given in (
        ("--kafka-defaults", options.kafka_defaults),
        ("--otlp-traces", options.otlp_traces),
        ("--recover-metadata", options.recover_metadata),
    ):
        given += [flag] if is_given else []
    alike = ("--as", options.release), ("--statsd", options.statsd), ("--otlp", options.otlp)
    for option, value in alike:
        given += [] if value is None else [option, value]
    if _is_controlled(options, settings):
        given += ["--control", "127.0.0.1:0", "--control-token-file", str(for_now / _CONTROL_FILE)]
        of_brokers += ["--counted-at", os.fspath(run_dir)]
    importing = []
    if options.import_producer_id_block:
        importing = ["--import-producer-id-block", options.import_producer_id_block]
    members = []
    recorded = _recorded(options.record)
    if not options.combined:
        arguments = [*given, *_is(CONTROLLER_ID, "controller"), *importing]
        arguments += _kept(options, "controller") or ["--data-dir", os.fspath(for_now)]
        listen: Listen = _listening_as_controller
        members.append(
            Member(CONTROLLER_ID, "controller", arguments, listen, roles=("controller",))
        )
    for number in range(1, options.brokers + 1):
        wanted = port if number == 1 else 0
        roles: tuple[str, ...] = ("broker",)
        if number == 1 and options.combined:
            roles = ("broker", "controller")
            arguments = [*given, *of_brokers, *_is(number, *roles), *importing]
            arguments += ["-c", f"controller.listener.names={CONTROLLER}"]
            arguments += [] if options.data_dir else ["--data-dir", os.fspath(for_now)]
            listen = _listening_at(options, wanted, CONTROLLER)
        else:
            arguments = [*given, *of_brokers, *_is(number, *roles)]
            listen = _listening_at(options, wanted)
        arguments += _kept(options, f"broker-{number}")
        members.append(Member(number, f"broker-{number}", arguments, recorded(listen), roles=roles))
    return members


def _recorded(path: str | None) -> Callable[[Listen], Listen]:
    """Begin a recording, and return what adds the option for it at each start of a broker."""
    if path is None:
        return lambda listen: listen
    from fencepost_broker.network.recorder import Recording

    file, began_ns = os.fspath(Path(path).resolve()), time.monotonic_ns()
    Recording(file).close()

    def add(listen: Listen) -> Listen:
        starts = itertools.count()
        return lambda ports: [
            *listen(ports), "--record", file, "--record-part", f"{began_ns}.{next(starts)}",
        ]  # fmt: skip

    return add


def _is(number: int, *roles: str) -> list[str]:
    return ["-c", f"process.roles={','.join(roles)}", "-c", f"node.id={number}"]


def _listening_as_controller(ports: Mapping[str, int]) -> list[str]:
    return ["--port", str(ports.get(CONTROLLER, 0))]


def _client_listener(options: argparse.Namespace) -> str:
    if options.users:
        return "SASL_SSL" if options.tls_cert else "SASL_PLAINTEXT"
    return "SSL" if options.tls_cert else BETWEEN


def _listening_at(options: argparse.Namespace, wanted: int, *more: str) -> Listen:
    """Return options for a listener for clients, one for brokers if it is another, and ``more``.

    The listener of brokers needs no login, because it is on the loopback address.
    """
    host = options.host or DEFAULT_HOST
    to_clients = _client_listener(options)
    to_brokers = more if to_clients == BETWEEN else (BETWEEN, *more)
    if not to_brokers:
        at = [] if options.host is None else ["--host", options.host]
        return lambda ports: [*at, "--port", str(ports.get(to_clients, wanted))]

    def listen(ports: Mapping[str, int]) -> list[str]:
        places = [Endpoint(to_clients, host, ports.get(to_clients, wanted))]
        places += [Endpoint(name, DEFAULT_HOST, ports.get(name, 0)) for name in to_brokers]
        return ["-c", f"listeners={','.join(map(str, places))}"]

    return listen


async def create(bootstrap: str, topics: Sequence[WantedTopic]) -> None:
    """Create topics once all brokers run, so that every broker gets its share."""
    if not topics:
        return
    from fencepost_client import Admin, KafkaError, NewTopic, TopicAlreadyExistsError

    client_id = client_id_of_broker(CONTROLLER_ID, "topics")  # recordings leave it out
    async with Admin(bootstrap, client_id=client_id) as admin:
        for each in topics:
            wanted = NewTopic(each.name, each.partitions, configs=each.configs)
            try:
                await admin.create_topics([wanted])
            except TopicAlreadyExistsError:
                continue
            except KafkaError as error:
                raise ProcessError(f"topic {each.name!r}: {error}") from error


def _kept(options: argparse.Namespace, folder: str) -> list[str]:
    if not options.data_dir:
        return []
    return ["--data-dir", os.fspath(Path(options.data_dir) / folder)]


def _announce(options: argparse.Namespace, supervisor: Supervisor) -> None:
    """Print that the cluster is ready, as a line or as JSON."""
    members = [each.told() for each in supervisor.members.values()]
    control = None if supervisor.control is None else supervisor.control.address
    told = {
        "bootstrap": supervisor.bootstrap,
        "control": control,
        "pid": os.getpid(),
        "members": members,
    }
    line = f"ready at {supervisor.bootstrap} ({len(supervisor.brokers)} brokers)"
    if control is not None:
        line += f"\nconsole and control port at http://{control}"
    users = options.users
    to_clients = f"{_client_listener(options)}://{supervisor.brokers[0].bootstrap}"
    log_in = {"listeners": to_clients, **(settings_for(users) if users else {})}
    line += how_to_log_in(Settings().with_overrides(log_in), users)
    announce(options, told, line)

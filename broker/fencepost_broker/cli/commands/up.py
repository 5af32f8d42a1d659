"""``fencepost up``: run a broker in the foreground.

Without a data directory, everything is kept in memory and is gone at exit.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from typing import TYPE_CHECKING, Final

from fencepost_protocol.commands import Command, help_as_written, number

from fencepost_broker.cli.commands.control_options import (
    add_control_options,
    add_sending_options,
    check_token_file,
)
from fencepost_broker.cli.commands.parent import parent_descriptor
from fencepost_broker.cli.commands.readiness import (
    NotReadyError,
    announce,
    check_pid_file,
    forget_pid,
    read_descriptor,
    written_descriptor,
)
from fencepost_broker.cli.commands.user_options import add_user_options, how_to_log_in, users_of
from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.sources.arguments import add_settings_arguments, settings_from
from fencepost_broker.config.values.endpoints import (
    NO_HOST,
    PORT_MAX,
    is_host,
)
from fencepost_broker.config.values.releases import RELEASES
from fencepost_broker.observability.logging import add_log_arguments, logs_from

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fencepost_broker.config import Settings
    from fencepost_broker.config.setting import Value
    from fencepost_broker.network.recorder import Part
    from fencepost_broker.server.embedded.broker import Broker
    from fencepost_broker.storage.log import StorageError

DEFAULT_PORT: Final = 9092
BROKERS_MAX: Final = 999
"""Largest number of brokers; their ids are below the controller's."""
AS_KAFKA_SAYS_IT: Final = "Transitioning from RECOVERY to RUNNING"
"""Testcontainers waits for these words of Apache Kafka's log."""
_OBJECTS_BETWEEN_COLLECTIONS: Final = 10_000
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_ADDRESS: Final = 3
EXIT_LOCKED: Final = 4
EXIT_STORAGE: Final = 5

EPILOG: Final = """\
examples:
  fencepost up --topic orders:3                        in memory, gone at exit
  fencepost up --data-dir data --port 9092 -c num.partitions=6
  fencepost up --topic orders:3 --console              to look at, at http://127.0.0.1:9080
  fencepost up --topic orders:3 --as 2.8               APIs, versions and errors of that release
  fencepost up --kafka-env                             settings from KAFKA_LISTENERS and others
  fencepost up --record bug.fprec                      for `fencepost replay`; also with --brokers
  fencepost up --brokers 3 --topic orders:6            a controller and three brokers
  fencepost up --brokers 3 --control 9093              one control port for all of them
exit code: 0 stopped cleanly, 1 failed, 2 invalid settings or options, 3 cannot listen on an
address, 4 another broker uses the data directory, 5 the data directory cannot be used,
71 out of memory, 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.add_argument("--host", type=_host, help="the address to listen on (127.0.0.1)")
    parser.add_argument(
        "--port", type=number("a port", PORT_MAX), metavar="N",
        help="the port to listen on (9092; 0, or with --brokers: a free port)",
    )  # fmt: skip
    parser.add_argument("--data-dir", metavar="DIR", help="keep topics here, in Kafka's own files")
    parser.add_argument(
        "--topic", action="append", default=[], metavar="NAME[:PARTITIONS][:CONFIG=VALUE]...",
        help="create this topic at start, unless it exists",
    )  # fmt: skip
    parser.add_argument("--as", dest="release", choices=RELEASES, help="imitate a release of Kafka")
    add_user_options(parser)
    parser.add_argument("--tls-cert", metavar="FILE", help="use TLS with this certificate (PEM)")
    parser.add_argument("--tls-key", metavar="FILE", help="the certificate's private key (PEM)")
    add_control_options(parser)
    add_sending_options(parser)
    parser.add_argument(
        "--brokers", type=number("a number of brokers", BROKERS_MAX, 1), metavar="N",
        help="run a cluster of N brokers and a controller, each in a process of its own",
    )  # fmt: skip
    parser.add_argument(
        "--combined", action="store_true",
        help="with --brokers: run the controller in the first broker's process",
    )  # fmt: skip
    parser.add_argument(
        "--run-dir", metavar="DIR", help="the directory where commands find the cluster"
    )
    parser.add_argument(
        "--faults", metavar="FILE", help="add the fault rules of this TOML file at the start"
    )
    parser.add_argument(
        "--record", metavar="FILE", help="record what clients send and are answered in a new file"
    )
    _add_endings(parser)
    parser.add_argument("--json", action="store_true", help="print JSON when the broker is ready")
    parser.add_argument(
        "--ready-fd", type=written_descriptor, metavar="N",
        help="write the same JSON line to this open file descriptor when ready, and close it",
    )  # fmt: skip
    parser.add_argument(
        "--import-producer-id-block", metavar="FILE",
        help="allocate producer ids after the last block of a ZooKeeper cluster: FILE has the"
        " content of /latest_producer_id_block",
    )  # fmt: skip
    parser.add_argument(
        "--recover-metadata", action="store_true",
        help="start with a damaged metadata log: the damaged files are renamed, and everything"
        " written after the damage is lost (metadata.log.recover)",
    )  # fmt: skip
    parser.add_argument(
        "--pid-file", metavar="FILE", help="write the process id to FILE when the broker is ready"
    )
    add_log_arguments(parser)
    add_settings_arguments(parser)


def _add_endings(parser: argparse.ArgumentParser) -> None:
    ending = parser.add_mutually_exclusive_group()
    ending.add_argument(
        "--exit-with-parent", action="store_true",
        help="stop when the parent process ends: a killed test runner leaves no broker running",
    )  # fmt: skip
    ending.add_argument(
        "--until-closed", type=read_descriptor, metavar="FD", help=argparse.SUPPRESS
    )
    parser.add_argument("--counted-at", metavar="DIR", help=argparse.SUPPRESS)
    parser.add_argument("--record-part", type=_part, metavar="NS.START", help=argparse.SUPPRESS)


def _part(text: str) -> tuple[int, int]:
    began_ns, _, start = text.partition(".")
    return int(began_ns), int(start)


def _host(text: str) -> str:
    if not is_host(text):
        raise argparse.ArgumentTypeError(f"{text!r}: {NO_HOST}")
    return text


def run(options: argparse.Namespace) -> int:
    """Run a broker or a cluster until it is stopped, and return the exit code."""
    try:
        _check_given(options)
        settings = settings_from(options, _overrides(options), _defaults(options))
        _check_used(options, settings)
        options.users = users_of(options)
        if options.exit_with_parent:
            options.until_closed = parent_descriptor()
    except SettingsError as error:
        return _fail(error.problems, EXIT_USAGE)
    except ValueError as error:
        return _fail([str(error)], EXIT_USAGE)
    if options.brokers is not None:
        from fencepost_broker.cli.commands.up_cluster import run_cluster

        try:
            return run_cluster(options, settings, options.port or 0)
        finally:
            forget_pid(options.pid_file)
    from fencepost_broker.network.listeners import ListenError
    from fencepost_broker.server.clock import wall_ms
    from fencepost_broker.server.embedded.broker import Broker
    from fencepost_broker.server.errors import BrokerFailedError
    from fencepost_broker.server.running import run_loop, run_until_stopped
    from fencepost_broker.storage.log import LockedError, StorageError

    try:
        broker = Broker(
            settings=settings,
            host=options.host,
            port=_port(options, settings),
            data_dir=options.data_dir,
            topics=options.topic,
            users=options.users,
            tls_cert=options.tls_cert,
            tls_key=options.tls_key,
            logs=logs_from(options, sys.stderr, wall_ms),
        )
    except SettingsError as error:
        return _fail(error.problems, EXIT_USAGE)
    except ValueError as error:
        return _fail([str(error)], EXIT_USAGE)
    try:
        until_closed = options.until_closed
        return run_loop(run_until_stopped(broker, lambda: _begin(options, broker), until_closed))
    except SettingsError as error:
        return _fail(error.problems, EXIT_USAGE)  # an invalid certificate
    except ListenError as error:
        return _fail([str(error)], EXIT_ADDRESS)
    except LockedError as error:
        return _fail([str(error)], EXIT_LOCKED)
    except StorageError as error:
        return _fail([_told_of(broker, error)], EXIT_STORAGE)
    except ValueError as error:
        return _fail([str(error)], EXIT_USAGE)  # an invalid topic
    except (NotReadyError, BrokerFailedError) as error:
        return _fail([str(error)], EXIT_FAILED)
    finally:
        forget_pid(options.pid_file)


def _check_given(options: argparse.Namespace) -> None:
    """Raise ValueError for options that would fail later: missing files, invalid names."""
    from fencepost_broker.config.topic_spec import read_topics
    from fencepost_broker.metadata.names import name_problem

    if options.data_dir == "":
        raise ValueError("--data-dir is empty: name a directory")
    if options.faults is not None:
        from fencepost_broker.faults.plan import read_plan

        read_plan(options.faults)
    if options.record is not None and options.record_part is None:
        from pathlib import Path

        if Path(options.record).exists():
            raise ValueError(f"--record {options.record}: the file exists already")
    if options.pid_file is not None:
        check_pid_file(options.pid_file)
    for topic in read_topics(options.topic):
        if wrong := name_problem(topic.name):
            raise ValueError(f"--topic {topic.name}: {wrong}")
    block = options.import_producer_id_block
    if block is not None:
        from pathlib import Path

        if not Path(block).is_file():
            raise ValueError(f"--import-producer-id-block {block}: there is no such file")


def _check_used(options: argparse.Namespace, settings: Settings) -> None:
    """Raise ValueError for an option that would have no effect without another one."""
    if options.brokers is None:
        if options.combined:
            raise ValueError(
                "--combined needs --brokers N: a single broker always includes its controller"
            )
        if options.run_dir is not None:
            raise ValueError("--run-dir needs --brokers N: commands find a cluster there")
    if settings.control_address is None:
        check_token_file(options)
    if options.recover_metadata and options.data_dir is None and not settings.data_dirs:
        raise ValueError("--recover-metadata needs --data-dir DIR: in memory, nothing is damaged")


def _overrides(options: argparse.Namespace) -> dict[str, Value]:
    """Return the settings that other options stand for."""
    overrides: dict[str, Value] = {}
    if options.import_producer_id_block is not None:
        overrides["producer.id.block.import"] = options.import_producer_id_block
    if options.recover_metadata:
        overrides["metadata.log.recover"] = True
    if options.release is not None:
        overrides["kafka.release"] = options.release
    if options.control is not None:
        overrides["control.address"] = options.control
    if options.statsd is not None:
        overrides["statsd.address"] = options.statsd
    if options.otlp is not None:
        overrides["otlp.endpoint"] = options.otlp
    if options.otlp_traces:
        overrides["otlp.traces"] = True
    if options.control_token_file is not None:
        overrides["control.token.file"] = options.control_token_file
    return overrides


def _defaults(options: argparse.Namespace) -> dict[str, Value]:
    """Return the defaults that differ from those of an embedded broker."""
    if options.brokers is None:
        return {}
    from fencepost_broker.cli.commands.up_cluster import cluster_defaults

    return cluster_defaults(options.brokers)


def _told_of(broker: Broker, error: StorageError) -> str:
    """Return the error with the data directory, since errors name paths within it."""
    folder = ", ".join(broker.settings.data_dirs)
    return str(error) if not folder or folder in str(error) else f"{error} (in {folder})"


def _port(options: argparse.Namespace, settings: Settings) -> int | None:
    """Return the port that options or settings name, or else Kafka's."""
    given: int | None = options.port
    return DEFAULT_PORT if given is None and not settings.given("listeners") else given


def _begin(options: argparse.Namespace, broker: Broker) -> None:
    if options.counted_at is not None:
        from pathlib import Path

        from fencepost_broker.cli.cluster.counting import counter_at

        broker.fault_rules().counter = counter_at(Path(options.counted_at))
    if options.faults is not None:
        broker.faults.load(options.faults)
    if options.record is not None:
        try:
            broker.record(options.record, _part_of(options, broker))
        except OSError as error:
            raise NotReadyError(f"--record {options.record}: {error.strerror}") from error
    gc.freeze()  # what a start has made stays, and is no longer searched for garbage
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    _announce(options, broker)


def _part_of(options: argparse.Namespace, broker: Broker) -> Part | None:
    """Return the part of a recording that this process writes, in a cluster."""
    if options.record_part is None:
        return None
    from fencepost_broker.network.recorder import Part

    began_ns, start = options.record_part
    return Part.of_process(began_ns, broker.settings.node_id, start)


def _announce(options: argparse.Namespace, broker: Broker) -> None:
    """Report that the broker is ready, in each way that options ask for."""
    kept = broker.settings.data_dirs[0] if broker.settings.data_dirs else None
    told = {
        "bootstrap": broker.bootstrap,
        "listeners": {each.listener: each.bootstrap for each in broker.addresses},
        "controller": broker.controller,
        "control": broker.control,
        "pid": os.getpid(),
        "data_dir": kept,
    }
    where = f"in {kept}" if kept else "in memory, gone at exit"
    line = f"ready at {_reached_at(broker)} (topics are kept {where})"
    if broker.control is not None:
        line += f"\nconsole and control port at http://{broker.control}"
    if options.kafka_env:
        line += f"\n{AS_KAFKA_SAYS_IT}"
    announce(options, told, line + how_to_log_in(broker.settings, options.users))


def _reached_at(broker: Broker) -> str:
    if len(broker.addresses) == 1:
        return broker.bootstrap
    return ", ".join(f"{each.listener}://{each.bootstrap}" for each in broker.addresses)


def _fail(reasons: Iterable[str], code: int) -> int:
    for reason in reasons:
        sys.stderr.write(f"fencepost up: {reason}\n")
    return code


COMMAND: Final = Command("up", "run a broker in the foreground", add_arguments, run)

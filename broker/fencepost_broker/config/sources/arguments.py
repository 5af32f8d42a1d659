"""Options of commands that take settings: ``--config FILE`` and ``-c name=value``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from fencepost_broker.config.sources import kafka_environment
from fencepost_broker.config.sources.loading import load

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from fencepost_broker.config.setting import Value
    from fencepost_broker.config.settings import Settings


def add_settings_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for settings to a command."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="read settings from a file: TOML if its name ends in .toml, otherwise Java properties",
    )
    parser.add_argument(
        "--kafka-defaults",
        action="store_true",
        help="use Apache Kafka's defaults where Fencepost's differ (docs/reference/settings.md)",
    )
    parser.add_argument(
        "--kafka-env",
        action="store_true",
        help="read settings from the environment variables of Apache Kafka's image, too"
        " (KAFKA_ADVERTISED_LISTENERS), and listen on all addresses",
    )
    parser.add_argument(
        "-c",
        dest="settings",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="one setting; overrides the environment (FENCEPOST_NUM_PARTITIONS), which overrides"
        " the file",
    )


def settings_from(
    options: argparse.Namespace,
    overrides: Mapping[str, Value] | None = None,
    defaults: Mapping[str, Value] | None = None,
) -> Settings:
    """Return the settings of a command.

    `overrides` come from its other options; `defaults` apply where nothing is given.
    """
    given = [*options.settings, *(["kafka.defaults=true"] if options.kafka_defaults else [])]
    if options.kafka_env:
        for line in kafka_environment.ignored(os.environ):
            sys.stderr.write(f"fencepost {options.command}: {line}\n")
        has_file = options.config is not None
        defaults = kafka_environment.defaults(os.environ, has_file) | dict(defaults or {})
    return load(
        options.config,
        os.environ,
        given,
        overrides,
        defaults,
        has_kafka_environment=options.kafka_env,
    )

"""``fencepost config``: every setting with its type, range, default and one line of help."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.commands import Command, help_as_written

from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.settings import Settings
from fencepost_broker.config.sources.arguments import add_settings_arguments, settings_from
from fencepost_broker.config.table import Origin
from fencepost_broker.config.unsupported import reason_to_refuse

if TYPE_CHECKING:
    import argparse

    from fencepost_broker.config.setting import AnySetting
    from fencepost_broker.config.table import Table

OK: Final = 0
NOTHING_FOUND: Final = 1
USAGE: Final = 2

LINE_WIDTH: Final = 100
INDENT: Final = "    "

DESCRIPTION: Final = """\
Print every setting of a broker: its value, type, range, default, scope and purpose. With the
settings options of `fencepost up`, print the values that are in force and where they come from.
"""
EPILOG: Final = """\
examples:
  fencepost config retention                 settings with retention in their name or help
  fencepost config --topic                   settings of topics, with a new topic's values
  fencepost config --config my.properties --given
  fencepost config -c num.partitions=3 num.partitions --json
exit code: 0 printed, 1 no such setting, 2 invalid settings
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="only settings with every WORD in name or help"
    )
    parser.add_argument("--topic", action="store_true", help="settings of topics")
    parser.add_argument("--given", action="store_true", help="only settings that are set")
    parser.add_argument("--json", action="store_true", help="write JSON")
    add_settings_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print the settings and return the exit code."""
    try:
        settings = settings_from(options)
    except SettingsError as error:
        for problem in error.problems:
            sys.stderr.write(f"fencepost config: {problem}\n")
        return USAGE
    table: Table = settings.topic() if options.topic else settings
    found = [
        setting
        for setting in (*table.settings.values(), *map(table.setting_of, table.given_beside))
        if setting is not None
        and _matches(setting, options.words)
        and not (options.given and table.source(setting.name).origin is Origin.DEFAULT)
    ]
    if options.json:
        _write(json.dumps([_as_json(table, setting) for setting in found], indent=2) + "\n")
    else:
        _write("\n".join(_as_text(table, setting) for setting in found))
    if found or options.given:
        return OK
    sys.stderr.write(f"fencepost config: {_why_nothing(options.words)}\n")
    return NOTHING_FOUND


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe; Python's last flush must not fail, either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _matches(setting: AnySetting, words: list[str]) -> bool:
    searched = f"{setting.name} {setting.help}".lower()
    return all(word.lower() in searched for word in words)


def _why_nothing(words: list[str]) -> str:
    for word in words:
        reason = reason_to_refuse(word)
        if reason:
            return f"Fencepost does not support {word}: {reason}"
    if len(words) == 1:
        return Settings.explain_unknown(words[0])
    return f"no setting has all of {', '.join(words)} in its name or help"


def _as_text(table: Table, setting: AnySetting) -> str:
    head = f"{setting.name} = {_shown(table.shown(setting.name))}"
    source = table.source(setting.name)
    if source.origin is not Origin.DEFAULT:
        head += f"    from {source}"
    default = _shown(setting.format(table.default_of(setting)))
    facts = [setting.allowed, f"default {default}", setting.scope.value]
    if setting.own:
        facts.append("Fencepost's own")
    paragraphs = [setting.help, "; ".join(facts)]
    if setting.ignored:
        paragraphs.append("accepted because Kafka has it; has no effect here")
    if setting.because:
        kafka = _shown(setting.format(setting.kafka_default))
        theirs = "Kafka behaves as with" if setting.own else "Kafka's default is"
        paragraphs.append(f"{theirs} {kafka}; Fencepost's differs because {setting.because}")
    lines = [
        textwrap.fill(
            paragraph,
            LINE_WIDTH,
            initial_indent=INDENT,
            subsequent_indent=INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for paragraph in paragraphs
    ]
    return "\n".join([head, *lines]) + "\n"


def _shown(value: str | None) -> str:
    return "(none)" if value is None else value or "(empty)"


def _as_json(table: Table, setting: AnySetting) -> dict[str, Any]:
    source = table.source(setting.name)
    told: dict[str, Any] = {
        "name": setting.name,
        "value": "[hidden]" if setting.is_sensitive else table[setting.name],
        "source": source.origin.value,
        "place": source.place,
        "type": setting.kind.name.lower(),
        "allowed": setting.allowed,
        "default": table.default_of(setting),
        "scope": setting.scope.value,
        "help": setting.help,
        "own": setting.own,
        "ignored": setting.ignored,
    }
    if setting.because:
        told |= {"kafka_default": setting.kafka_default, "because": setting.because}
    if setting.synonyms:
        told["synonyms"] = [name for name, _ in setting.synonyms]
    return told


COMMAND: Final = Command(
    name="config",
    help="print every setting of a broker, with the value in force",
    add_arguments=add_arguments,
    run=run,
)

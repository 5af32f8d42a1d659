"""Writes docs/reference/settings.md: where settings differ from Apache Kafka's, and why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fencepost_protocol.codegen.page import write_or_check

from fencepost_broker.config.setting import AnySetting
from fencepost_broker.config.settings import Settings

PAGE: Final = Path(__file__).resolve().parents[3] / "docs/reference/settings.md"


def page() -> str:
    """Return the text of the page."""
    settings = Settings.settings.values()
    lines = [
        "<!-- Generated from the tables of settings by `make docs`. Do not edit. -->",
        "",
        "# Settings",
        "",
        "A broker takes all settings of Apache Kafka 4.3 under Kafka's names: from a file",
        "(`--config server.properties`), from the environment (`FENCEPOST_NUM_PARTITIONS=3`) and",
        "from options (`-c num.partitions=3`). `fencepost config` prints all of them with their",
        "values, and `fencepost config WORD` those with the word in their name or text. This page",
        "lists the differences from Kafka.",
        "",
        "## Other defaults than Kafka's",
        "",
        "`fencepost up --kafka-defaults`, or the setting `kafka.defaults=true`, gives Kafka's",
        "default to all but those marked *stays*. A value that you set takes precedence.",
        "",
        "| setting | here | in Kafka | why | with `--kafka-defaults` |",
        "|---|---|---|---|---|",
        *_table(each for each in settings if each.because and not each.own),
        "",
        "Three replicas need three brokers: with `fencepost up --brokers 3` the internal topics",
        "have three, with or without `--kafka-defaults`.",
        "",
        "## Other behaviour than Kafka's",
        "",
        "These are Fencepost's own settings; the third column has the value that imitates Kafka.",
        "",
        "| setting | here | in Kafka | why | with `--kafka-defaults` |",
        "|---|---|---|---|---|",
        *_table(each for each in settings if each.because and each.own),
        "",
        "[Differences from Apache Kafka](../explanation/differences.md) lists what cannot be set.",
        "",
        "## Fencepost's other settings",
        "",
        "| setting | default | what it is |",
        "|---|---|---|",
        *(
            f"| `{each.name}` | {_value(each, each.default)} | {each.help} |"
            for each in settings
            if each.own and not each.because
        ),
        "",
        "## Settings without effect",
        "",
        "A broker reads, checks and describes these settings as Kafka does, but they have no",
        "effect. At its start it logs the names of those that are set.",
        "",
        *_without_effect(),
        "",
    ]
    return "\n".join(lines)


def _table(settings: Iterator[AnySetting]) -> Iterator[str]:
    for each in settings:
        ours, theirs = _value(each, each.default), _value(each, each.kafka_default)
        follows = "stays" if each.stays else "Kafka's"
        yield f"| `{each.name}` | {ours} | {theirs} | {each.because} | {follows} |"


def _value(setting: AnySetting, value: object) -> str:
    text = setting.format(value)  # type: ignore[arg-type]  # a default is a value
    return f"`{text}`" if text else "none" if text is None else "empty"


def _without_effect() -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for each in Settings.settings.values():
        if each.ignored and not each.internal:
            by_reason.setdefault(each.help, []).append(f"`{each.name}`")
    for reason, names in by_reason.items():
        yield f"- {reason}: {', '.join(names)}"


def main() -> int:
    """Write the page, or check that it is up to date."""
    return write_or_check(PAGE, page(), "docs/reference/settings.md is out of date")


if __name__ == "__main__":
    raise SystemExit(main())

"""Every setting is used by something, or it is said here why it is not yet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fencepost_broker.config import AnySetting, Settings, TopicSettings

BROKER = Path(__file__).parents[3] / "broker" / "fencepost_broker"
TABLES = {
    "network.py",
    "fencepost.py",
    "log.py",
    "cluster.py",
    "coordinators.py",
    "topic.py",
    "checks.py",
}
"""Where settings are declared, and compared with each other: that is no use."""

OF_A_CLUSTER = r"""
replica\. .*controller\.quorum\. controller\.socket\.timeout\.ms controlled\.shutdown\.enable
broker\.heartbeat\.interval\.ms initial\.broker\.registration\.timeout\.ms
inter\.broker\.listener\.name security\.inter\.broker\.protocol request\.timeout\.ms
unclean\.leader\.election\.interval\.ms
metadata\.max\.idle\.interval\.ms
"""
"""Brokers and controllers in processes of their own are still to come."""
OF_COORDINATORS = r"""
group\. offsets\. transaction\..*(cleanup\.interval\.ms|load\.buffer\.size)
"""
"""Group coordinators are not wired to the node yet; the others' upkeep goes by deadlines."""
STILL_TO_DO = r"""
metadata\.log\. metadata\.max\.retention\. unstable\. telemetry\.max\.bytes
"""
"""The metadata log's own retention, and KIP-714."""
ONLY_CHECKED = "process\\.roles"
"""One value is possible; others are refused."""
NOT_YET = re.compile(
    "|".join((OF_A_CLUSTER + OF_COORDINATORS + STILL_TO_DO + ONLY_CHECKED).split())
)


def sources() -> str:
    return "\n".join(
        path.read_text(encoding="utf-8")
        for path in BROKER.rglob("*.py")
        if not (path.parent.name in {"config", "tables"} and path.name in TABLES)
    )


SOURCES = sources()
AS_SYNONYM = {name for each in TopicSettings.settings.values() for name, _ in each.synonyms}
"""Settings of the broker that topics fall back on: a topic's setting uses them."""


def is_used(setting: AnySetting) -> bool:
    if setting.name in AS_SYNONYM or f'"{setting.name}"' in SOURCES:
        return True
    # LogConfig's fields are topics' settings; those of codecs are chosen by a name put together.
    return (
        re.search(rf"\b{setting.attribute}\b", SOURCES) is not None
        or re.fullmatch(r"compression\.(gzip|lz4|zstd)\.level", setting.name) is not None
    )


ALL = [*Settings.settings.values(), *TopicSettings.settings.values()]


@pytest.mark.parametrize("setting", ALL, ids=lambda setting: setting.name)
def test_a_setting_does_something(setting: AnySetting) -> None:
    if not (setting.ignored or NOT_YET.match(setting.name)):
        assert is_used(setting), f"{setting.name} is taken and does nothing: use it or say why not"

"""Every setting is used by something, or it is declared as one without effect."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fencepost_broker.config import AnySetting, Settings, SettingsOfGroup, TopicSettings

BROKER = Path(__file__).parents[3] / "broker" / "fencepost_broker"
CONFIG = BROKER / "config"
NO_USE = {"tables", "checks.py"}
"""Where settings are declared, and compared with each other: that is no use."""
BY_NAMES_PUT_TOGETHER = re.compile(
    r"compression\.(gzip|lz4|zstd)\.level|group\.(consumer|share|streams)\.(min|max)\..+"
)
ONLY_CHECKED = {"ssl.keystore.type", "ssl.truststore.type"}
"""One value is possible; others are refused."""


def sources() -> str:
    return "\n".join(
        path.read_text(encoding="utf-8")
        for path in BROKER.rglob("*.py")
        if not (path.is_relative_to(CONFIG) and NO_USE & set(path.relative_to(CONFIG).parts))
    )


SOURCES = sources()
AS_SYNONYM = {
    name
    for table in (TopicSettings, SettingsOfGroup)
    for each in table.settings.values()
    if not each.ignored
    for name, _ in each.synonyms
}
"""Settings of the broker that topics and groups fall back on: their own settings use them."""


def is_used(setting: AnySetting) -> bool:
    if setting.name in AS_SYNONYM or f'"{setting.name}"' in SOURCES:
        return True
    return (
        re.search(rf"\b{setting.attribute}\b", SOURCES) is not None
        or BY_NAMES_PUT_TOGETHER.fullmatch(setting.name) is not None
    )


ALL = [
    each for table in (Settings, TopicSettings, SettingsOfGroup) for each in table.settings.values()
]


@pytest.mark.parametrize("setting", ALL, ids=lambda setting: setting.name)
def test_a_setting_does_something(setting: AnySetting) -> None:
    if not (setting.ignored or setting.name in ONLY_CHECKED):
        assert is_used(setting), f"{setting.name} is taken and does nothing: use it or say why not"


@pytest.mark.parametrize("name", sorted(ONLY_CHECKED))
def test_only_one_value_is_possible(name: str) -> None:
    setting = Settings.settings[name]
    setting.parse(str(setting.default))
    with pytest.raises(ValueError, match=r"only PEM is|it is not one of them"):
        setting.parse("another")

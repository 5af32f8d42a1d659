"""Our settings are Apache Kafka's: names, types, defaults, ranges, scopes and synonyms.

What differs on purpose stands in the tables of settings themselves (``kafka=`` with ``because=``),
in `refused.py`, or below with its reason. A difference that is nowhere explained fails, and so does
an explanation of what is no difference.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fencepost_broker.settings import AnySetting, Kind, Scope, Settings, TopicSettings
from fencepost_broker.settings.refused import reason_to_refuse
from tests.support.apache_kafka import LIBRARY_DIR, KafkaUnavailableError, _tool, fetch

pytestmark = pytest.mark.conformance

PROGRAM = Path(__file__).parent / "settings" / "KafkaSettings.java"
TABLES: dict[str, dict[str, AnySetting]] = {
    "broker": Settings.settings,
    "topic": TopicSettings.settings,
}
ALL = [
    (table, name)
    for table, settings in TABLES.items()
    for name in settings
    if not settings[name].own
]
"""Every setting that Kafka has, too."""

TOPIC_SETTINGS_LEFT_OUT = {
    "internal.segment.bytes": "for Kafka's own tests",
    "local.retention.bytes": "no tiered storage",
    "local.retention.ms": "no tiered storage",
    "remote.log.copy.disable": "no tiered storage",
    "remote.log.delete.on.disable": "no tiered storage",
    "remote.storage.enable": "no tiered storage",
}


def probes(setting: AnySetting) -> list[str]:
    """Texts at and beyond the edges of what the setting takes."""
    found = [
        "",
        "x",
        " 7 ",
        "+7",
        "7_0",
        "7.5",
        "1e3",
        "0",
        "1",
        "-1",
        "-2",
        "NaN",
        "Infinity",
        "None",
    ]
    found += ["true", " FALSE ", "yes", "a,b", "a,,b", " a , b ", "a,a", ",", "*", "127.0.0.1:5"]
    for edge in (setting.at_least, setting.at_most):
        if edge is not None:
            found += [str(int(edge) + step) for step in (-1, 0, 1)]
    for bits in (15, 31, 63):
        found += [str((1 << bits) - 1), str(1 << bits), str(-(1 << bits)), str(-(1 << bits) - 1)]
    for word in setting.one_of:
        found += [word, word.upper(), word + "x", f"{word},{setting.one_of[0]}"]
    default = setting.format(setting.default)
    if default is not None:
        found.append(default)
    return list(dict.fromkeys(found))


@pytest.fixture(scope="module")
def kafka() -> dict[str, Any]:
    try:
        java = _tool("java", "a Java development kit, 17 or later")
        fetch()
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    asked = [[table, name, probe] for table, name in ALL for probe in probes(TABLES[table][name])]
    result = subprocess.run(
        [java, "-Xmx256m", "-cp", f"{LIBRARY_DIR}/*", str(PROGRAM)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    facts: dict[str, Any] = json.loads(result.stdout)
    answers: dict[tuple[str, str], dict[str, str | None]] = {}
    for (table, name, probe), answer in zip(asked, facts.pop("answers"), strict=True):
        answers.setdefault((table, name), {})[probe] = answer and answer[0]
    return facts | {"answers": answers}

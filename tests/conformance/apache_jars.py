"""Apache Kafka's message definitions, read out of the jars that Maven fetched for the Java side.

The jars carry the JSON files from which Kafka generates its message classes. They are read where
they lie and never copied into the repository.
"""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from tests.conformance.golden_peer import LIBRARY_DIR, build

Definition: TypeAlias = dict[str, Any]

# A string comes first in the pattern, so that the // of a URL inside one is no comment.
_STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')


def kafka_jars() -> list[Path]:
    """Every jar of Apache Kafka that the Java side uses."""
    build()
    return sorted(LIBRARY_DIR.glob("kafka-*.jar"))


def definitions() -> dict[str, Definition]:
    """Every message definition in the jars, by the name of the message."""
    found: dict[str, Definition] = {}
    for jar in kafka_jars():
        for path, text in _json_files(jar):
            definition = parse(text)
            name = definition["name"]
            if name in found:
                raise ValueError(f"{path} in {jar.name} defines {name} a second time")
            found[name] = definition
    return found


def parse(text: str) -> Definition:
    """A definition in Kafka's dialect: JSON with // comments."""
    definition: Definition = json.loads(_STRING_OR_COMMENT.sub(r"\1", text))
    return definition


def _json_files(jar: Path) -> Iterator[tuple[str, str]]:
    with zipfile.ZipFile(jar) as archive:
        for path in archive.namelist():
            if re.fullmatch(r"(common/)?(message|metadata)/\w+\.json", path):
                yield path, archive.read(path).decode()

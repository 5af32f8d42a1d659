"""Suites in Python: sources from PyPI, each with an environment of its own."""

from __future__ import annotations

import shutil
import sys
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.conformance.clients.clients import build
from tests.conformance.suites.outcomes import Outcomes, of_junit
from tests.conformance.suites.places import Place
from tests.conformance.suites.running import TARGET, Run, Suite

_ENVIRONMENT: Final = ".venv-suite"
_REPORT: Final = "report.xml"


def source_distribution(
    name: str, version: str, *needed: str, missing: Mapping[str, str]
) -> Callable[[], Path]:
    """Fetches and unpacks an sdist, and installs it with what its tests need.

    `missing` has the files that its tests need and that the sdist lacks.
    """

    def prepare() -> Path:
        folder = TARGET / f"{name.replace('-', '_')}-{version}"
        python = folder / _ENVIRONMENT / "bin" / "python"
        if not (folder / _ENVIRONMENT / "installed").exists():
            TARGET.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary"]
            build(TARGET, [*fetch, ":all:", f"{name}=={version}"])
            with tarfile.open(folder.with_name(f"{folder.name}.tar.gz")) as archive:
                archive.extractall(TARGET, filter="data")
            for file, text in missing.items():
                (folder / file).write_text(text, encoding="utf-8")
            build(folder, [sys.executable, "-m", "venv", _ENVIRONMENT])
            build(folder, [str(python), "-m", "pip", "install", "-q", ".", *needed])
            (folder / _ENVIRONMENT / "installed").touch()
        return folder

    return prepare


def _kafka_python(place: Place, run: Run) -> Outcomes:
    (run.folder / _REPORT).unlink(missing_ok=True)
    python = str(run.folder / _ENVIRONMENT / "bin" / "python")
    command = [python, "-m", "pytest", "test/integration", f"--junit-xml={_REPORT}"]
    if run.only:
        command += ["-k", run.only]
    environment = {
        "KAFKA_URI": f"kafka://{place.bootstrap.partition(',')[0]}",
        "KAFKA_VERSION": "4.3.1",
        "KAFKA_ROOT": ".",  # where it would look for a broker to start
    }
    run.execute(command, environment)
    return of_junit(run.folder / _REPORT)


_SERVICE: Final = '''
"""What tests see of a broker that somebody else has started."""


class ExternalService:
    def __init__(self, host, port):
        pass

    def dump_logs(self):
        pass

    def stop(self):
        pass


SpawnedService = ExternalService
'''
SUITES: Final = (
    Suite(
        "kafka-python",
        "3.0.12",
        source_distribution(
            "kafka-python",
            "3.0.12",
            *("pytest==8.4.2", "pytest-mock==3.15.1", "pytest-timeout==2.4.0"),
            *("lz4==4.4.5", "python-snappy==0.7.3", "zstandard==0.25.0"),
            missing={"test/__init__.py": "", "test/service.py": _SERVICE},
        ),
        _kafka_python,
        600,
        # As its own fixture.
        settings={
            "node.id": "0",
            "group.min.session.timeout.ms": "1000",
            "num.partitions": "4",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "allow.everyone.if.no.acl.found": "true",
        },
        left_out="tests without a broker",
    ),
)

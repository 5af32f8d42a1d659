"""Compiles the modules that most requests go through, for builds with ``FENCEPOST_COMPILE=1``.

The hooks of both distributions use it. mypyc makes a shared object of each module, which Python
prefers to the module's source beside it. Each distribution is compiled by itself: to the other one
its modules are like any others, so that compiled and pure distributions fit together.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

MODULES: Final = (
    "fencepost_protocol.framing",
    "fencepost_protocol.primitives",
    "fencepost_protocol.records.batch",
    "fencepost_protocol.records.checking",
    "fencepost_protocol.records.control",
    "fencepost_protocol.records.walking",
    "fencepost_protocol.records.writer",
    "fencepost_protocol.varint",
    "fencepost_broker.apis.coordinator_requests",
    "fencepost_broker.apis.loopback",
    "fencepost_broker.apis.produce.appending",
    "fencepost_broker.apis.produce.carrying_out",
    "fencepost_broker.apis.produce.handler",
    "fencepost_broker.apis.produce.partition_verification",
    "fencepost_broker.apis.produce.responses",
    "fencepost_broker.apis.produce.transactional",
    "fencepost_broker.apis.response_cache",
    "fencepost_broker.apis.transactions.transactions",
    "fencepost_broker.apis.transactions.write_txn_markers",
    "fencepost_broker.coordinator.records",
    "fencepost_broker.coordinator.runtime.coordinator_runtime",
    "fencepost_broker.coordinator.runtime.expiries",
    "fencepost_broker.coordinator.runtime.known_cluster",
    "fencepost_broker.coordinator.runtime.marker_sender",
    "fencepost_broker.coordinator.runtime.shard",
    "fencepost_broker.coordinator.runtime.steps",
    "fencepost_broker.coordinator.transaction.adding",
    "fencepost_broker.coordinator.transaction.context",
    "fencepost_broker.coordinator.transaction.ending",
    "fencepost_broker.coordinator.transaction.machine",
    "fencepost_broker.coordinator.transaction.markers",
    "fencepost_broker.coordinator.transaction.model",
    "fencepost_broker.coordinator.transaction.parking",
    "fencepost_broker.coordinator.transaction.refusals",
    "fencepost_broker.coordinator.transaction.states",
    "fencepost_broker.coordinator.transaction.timers",
    "fencepost_broker.network.connection",
    "fencepost_broker.network.receive_buffer",
    "fencepost_broker.network.socket_server",
    "fencepost_broker.replication.partition",
    "fencepost_broker.storage.log.indexes",
    "fencepost_broker.storage.log.producers",
    "fencepost_broker.storage.log.segment",
    "fencepost_broker.storage.log.validation",
)
"""All that is compiled."""
NEEDS: Final = ("mypy[mypyc]>=2.4,<3", "setuptools>=80")
"""What compiling needs besides a C compiler and Python's headers."""


def dependencies() -> list[str]:
    """Say what the build needs besides hatchling."""
    return [*NEEDS] if _is_wanted() else []


def add(build_data: dict[str, Any], packages: list[Path], built: Path) -> None:
    """Add the shared objects of these packages to a wheel, if they are wanted."""
    if not _is_wanted():
        return
    shutil.rmtree(built, ignore_errors=True)
    folders = [*(str(each.parent) for each in packages), os.environ.get("MYPYPATH", "")]
    types = os.environ | {"MYPYPATH": os.pathsep.join(filter(None, folders))}
    for package in packages:
        if any(_is_of(package.name, each) for each in MODULES):
            command = [sys.executable, __file__, package.name, str(built.absolute())]
            subprocess.run(command, cwd=package.parent, env=types, check=True)
    build_data["pure_python"], build_data["infer_tag"] = False, True
    for path in (built / "lib").rglob("*.so"):
        build_data["force_include"][str(path)] = str(path.relative_to(built / "lib"))


def _is_wanted() -> bool:
    return os.environ.get("FENCEPOST_COMPILE") == "1"


def _is_of(package: str, module: str) -> bool:
    return module.startswith(f"{package}.")


def main(package: str, built: Path) -> None:
    """Compile the modules of a package of the current folder into ``built/lib``."""
    from mypyc.build import mypycify
    from setuptools import Distribution

    paths = [f"{each.replace('.', '/')}.py" for each in MODULES if _is_of(package, each)]
    options = [
        "--config-file=",
        "--follow-imports=silent",
        "--ignore-missing-imports",
        f"--cache-dir={built / 'types'}",
    ]
    extensions = mypycify(
        [*options, *paths], opt_level="2", debug_level="0", multi_file=True,
        target_dir=str(built / "c"), group_name=package,
    )  # fmt: skip
    command = Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = str(built / "lib"), str(built / "o")
    command.ensure_finalized()
    command.run()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

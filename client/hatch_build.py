"""Adds to fencepost-client what lies outside of this folder: protocol, schemas and licence.

In a checkout these are beside the folder; an sdist contains them, where a wheel has them.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BESIDE = Path(__file__).with_name("hatch_compile.py")  # in an sdist
SCRIPT = BESIDE if BESIDE.exists() else Path(__file__).parents[1] / "broker/hatch_compile.py"
COMPILING = runpy.run_path(str(SCRIPT))


class CustomBuildHook(BuildHookInterface[Any]):
    """Hatchling calls it before each build."""

    def dependencies(self) -> list[str]:
        """Say what a build needs besides hatchling."""
        needed: list[str] = COMPILING["dependencies"]()
        return needed

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add a checkout's files; an editable installation reads them where they are."""
        if version == "editable":
            return
        root = Path(self.root)
        protocol = root / "fencepost_protocol"
        if not (root / "PKG-INFO").exists():
            checkout = root.parent
            protocol = checkout / "protocol/fencepost_protocol"
            build_data["force_include"] |= {
                str(protocol): "fencepost_protocol",
                str(checkout / "schemas"): "fencepost_protocol/schemas",
            }
            if self.target_name == "sdist":
                build_data["force_include"] |= {
                    str(checkout / "LICENSE"): "LICENSE",
                    str(SCRIPT): SCRIPT.name,
                }
        if self.target_name == "wheel":
            COMPILING["add"](build_data, [protocol], root / "build/compiled")

"""Decides what of the repository the distribution ``fencepost`` contains.

A checkout is installed whole, in one step. An sdist, and so each released wheel, contains the
broker and the pipeline only, and needs fencepost-client of the same version.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILING = runpy.run_path(str(Path(__file__).with_name("hatch_compile.py")))


class CustomBuildHook(BuildHookInterface[Any]):
    """Hatchling calls it before each build."""

    def dependencies(self) -> list[str]:
        """Say what a build needs besides hatchling."""
        needed: list[str] = COMPILING["dependencies"]()
        return needed

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the client's files to a wheel of a checkout, and else a dependency."""
        root = Path(self.root)
        packages = [root / "broker/fencepost_broker"]
        if self.target_name == "sdist" or (root / "PKG-INFO").exists():
            build_data["dependencies"].append(f"fencepost-client=={self.metadata.version}")
        elif version != "editable":
            packages += [root / "protocol/fencepost_protocol", root / "client/fencepost_client"]
            build_data["force_include"] |= {
                str(root / "protocol/fencepost_protocol"): "fencepost_protocol",
                str(root / "client/fencepost_client"): "fencepost_client",
                str(root / "schemas"): "fencepost_protocol/schemas",
            }
        if self.target_name == "wheel" and version != "editable":
            COMPILING["add"](build_data, packages, root / "build/compiled")

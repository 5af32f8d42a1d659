"""Adds to fencepost-client what lies outside of this folder: protocol, schemas and licence.

In a checkout these are beside the folder; an sdist contains them, where a wheel has them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    """Hatchling calls it before each build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add a checkout's files; an editable installation reads them where they are."""
        if version == "editable" or Path(self.root, "PKG-INFO").exists():
            return
        checkout = Path(self.root).parent
        build_data["force_include"] |= {
            str(checkout / "protocol/fencepost_protocol"): "fencepost_protocol",
            str(checkout / "schemas"): "fencepost_protocol/schemas",
        }
        if self.target_name == "sdist":
            build_data["force_include"][str(checkout / "LICENSE")] = "LICENSE"

"""CRC-32C, which every record batch carries: the package of that name, by its side door.

``import crc32c`` also looks up its own version, for which it imports importlib.metadata, email and
zipfile, and it brings a command line: 25 ms of a broker's start. What computes is an extension
module beside them; only that is loaded here, unless a later release keeps it elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any, Final

from fencepost_protocol.primitives import Buffer

_PACKAGE: Final = "crc32c"
_EXTENSION: Final = "crc32c._crc32c"


def _load() -> Any:
    if _PACKAGE not in sys.modules:
        package = PathFinder.find_spec(_PACKAGE)
        if package is not None:
            spec = PathFinder.find_spec(_EXTENSION, package.submodule_search_locations)
            if spec is not None and spec.loader is not None:
                extension = module_from_spec(spec)
                spec.loader.exec_module(extension)
                if hasattr(extension, "crc32c"):
                    return extension
    import crc32c as whole

    return whole


crc32c: Final[Callable[[Buffer], int]] = _load().crc32c
"""The checksum of some bytes; a memoryview is not copied."""

"""The type of functions that open keys and values of records."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from fencepost_protocol.dissect.node import Node
from fencepost_protocol.dissect.trace import Budget

Opener: TypeAlias = Callable[[Node, Node, Budget], None]
"""Opens a record's key and value, given the nodes of their contents."""

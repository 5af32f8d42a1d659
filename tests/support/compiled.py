"""Tests that a compiled build cannot run."""

from __future__ import annotations

import pytest
from fencepost_broker.cli.machine import is_compiled


def pure_only(module: str) -> pytest.MarkDecorator:
    """Skip a test that puts something in place of a part of this module, if it is compiled."""
    return pytest.mark.skipif(
        is_compiled(module), reason="compiled code goes past what is put in place of another"
    )

"""Why a running broker cannot go on."""

from __future__ import annotations


class BrokerFailedError(Exception):
    """A broker cannot go on; the text says why, and what to do."""

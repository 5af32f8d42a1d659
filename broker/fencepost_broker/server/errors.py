"""Errors of a running broker."""

from __future__ import annotations


class BrokerFailedError(Exception):
    """The broker cannot continue; the text says why, and what to do."""

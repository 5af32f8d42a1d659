"""Errors of a running broker."""

from __future__ import annotations


class BrokerFailedError(Exception):
    """The broker cannot continue; the text says why, and what to do."""


class ProcessError(Exception):
    """A process of a cluster cannot be started, stopped, ...; the text is for users."""

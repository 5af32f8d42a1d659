"""What an audit found, as tests compare it."""

from __future__ import annotations

from fencepost_pipeline.audit.audit_run import Audit
from fencepost_pipeline.audit.findings import Invariant


def failing(found: Audit) -> dict[Invariant, list[str]]:
    return {
        verdict.invariant: [f"{f.place}: {f.text}" for f in verdict.findings]
        for verdict in found.verdicts
        if verdict.count
    }


def alone(found: Audit, invariant: Invariant) -> list[str]:
    """The findings of the one invariant that fails."""
    said = failing(found)
    assert set(said) == {invariant}, said
    return said[invariant]

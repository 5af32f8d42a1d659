"""Checks that allow or refuse a request as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.authorization.verdicts import Asked, Check, Refused, Verdict
from fencepost_broker.apis.error_responses import refused
from fencepost_broker.security.authorizer.acls import Operation


def refusal(asked: Asked, code: ErrorCode, *, is_told: bool = True) -> Refused:
    """Refuse the whole request; ``is_told`` adds an error message."""
    text = f"not authorized: {code.name}" if is_told else None
    return Refused(refused(asked.api, asked.message, asked.version, code, text))


def needs_cluster(operation: Operation) -> Check:
    """Make a check of an operation on the cluster."""

    def check(asked: Asked) -> Verdict:
        if asked.rights.of_cluster(operation):
            return None
        return refusal(asked, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)

    return check


def needs_group(operation: Operation) -> Check:
    """Make a check of an operation on the request's group."""

    def check(asked: Asked) -> Verdict:
        if asked.rights.of_group(operation, asked.message.group_id):
            return None
        return refusal(asked, ErrorCode.GROUP_AUTHORIZATION_FAILED)

    return check


def needs_transaction(operation: Operation) -> Check:
    """Make a check of an operation on the request's transactional id."""

    def check(asked: Asked) -> Verdict:
        if asked.rights.of_transaction(operation, asked.message.transactional_id):
            return None
        return refusal(asked, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)

    return check


def each_of(*checks: Check) -> Check:
    """Make a check that runs several in order; only the last one may return a ``Rest``."""

    def check(asked: Asked) -> Verdict:
        verdict: Verdict = None
        for each in checks:
            verdict = each(asked)
            if verdict is not None:
                return verdict
        return verdict

    return check


def everybody(asked: Asked) -> Verdict:
    """Allow every request."""
    del asked
    return None


def only_some(
    answers: str, may_tell: Callable[[Asked, Any], bool], *, all_of_them: Callable[[Asked], bool]
) -> Check:
    """Make a check that allows every request, and filters the list ``answers`` of its response."""
    from fencepost_broker.apis.authorization.verdicts import Rest

    def check(asked: Asked) -> Verdict:
        if all_of_them(asked):
            return None

        def complete(response: Any) -> None:
            told = getattr(response, answers)
            setattr(response, answers, [each for each in told if may_tell(asked, each)])

        return Rest(complete)

    return check

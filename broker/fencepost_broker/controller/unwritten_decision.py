"""Withdrawal of a decision that could not be written: its answer becomes an error."""

from __future__ import annotations

from typing import Any

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.primitives import ZERO_UUID


def withdraw(answer: Any, code: ErrorCode, message: str) -> Any:
    """Put the error in every part of an answer that reports success; returns the answer."""
    names = answer.__slots__
    if "error_code" in names and not answer.error_code:
        answer.error_code = code
        if "error_message" in names:
            answer.error_message = message
        if "topic_id" in names:
            answer.topic_id = ZERO_UUID
    for name in names:
        value = getattr(answer, name)
        if isinstance(value, list):
            for each in value:
                if hasattr(each, "__slots__"):
                    withdraw(each, code, message)
    return answer

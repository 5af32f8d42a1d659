"""The exception for a request that a consumer group refuses."""

from __future__ import annotations

from fencepost_protocol.generated.error_code import ErrorCode


class Refusal(Exception):  # noqa: N818 (it is caught where the answer is made)
    """The error code and message of a refused request."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

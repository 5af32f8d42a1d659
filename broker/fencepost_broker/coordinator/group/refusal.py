"""A request that a consumer group does not take."""

from __future__ import annotations

from fencepost_protocol.generated.error_code import ErrorCode


class Refusal(Exception):  # noqa: N818 (it travels no further than to the answer it becomes)
    """Why, as a code and in words."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

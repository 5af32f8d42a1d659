"""Settings of logins."""

from __future__ import annotations

from typing import Any

from tests.support.secure_kafka import (
    PASSWORD,
    USER,
)


def login(
    mechanism: str, password: str = PASSWORD, protocol: str = "SASL_PLAINTEXT"
) -> dict[str, Any]:
    return {
        "security_protocol": protocol,
        "sasl_mechanism": mechanism,
        "sasl_plain_username": USER,
        "sasl_plain_password": password,
    }

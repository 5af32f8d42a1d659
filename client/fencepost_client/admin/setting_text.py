"""Values of settings as text, which is what requests have."""

from __future__ import annotations


def setting_text(name: str, value: bool | float | str | None) -> str | None:
    """Return a value as Kafka writes it; raises ``TypeError`` for what is no value of a setting."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return repr(value)
    raise TypeError(f"{name}={value!r:.80}: a setting is a text, a number or a bool")

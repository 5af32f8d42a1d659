"""Settings of what brokers are to each other and to the controller, where they are asked who."""

from __future__ import annotations

from typing import Final

from fencepost_broker.settings.setting import Setting, string

_PREFIX: Final = "User:"


class BetweenBrokersSettings:
    """Which users are brokers."""

    super_users: Setting[str | None] = string(
        None,
        "users that may ask what only brokers ask, where a listener asks who comes; Kafka's"
        " authorizer lets them do all",
        own=True,
        check=lambda given: _check_users(given),
        range_text="User:NAME each, with semicolons between them",
    )


def parse_users(given: str | None) -> tuple[str, ...]:
    """The names of users; a ValueError says what is wrong."""
    words = [word for each in (given or "").split(";") if (word := each.strip())]
    for word in words:
        if not word.startswith(_PREFIX) or word == _PREFIX:
            raise ValueError(f"{word} is not of the form User:NAME")
    return tuple(word.removeprefix(_PREFIX) for word in words)


def _check_users(given: str) -> str | None:
    try:
        parse_users(given)
    except ValueError as error:
        return str(error)
    return None

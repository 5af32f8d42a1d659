"""Settings of brokers' logins at other brokers and at the controller.

As in Kafka, a broker's own login is with the users of a listener: in the options ``username`` and
``password`` of `listener.name.NAME.MECHANISM.sasl.jaas.config`.
"""

from __future__ import annotations

from typing import Final

from fencepost_broker.config.setting import Scope, Setting, string

_PREFIX: Final = "User:"
_KERBEROS: Final = "GSSAPI"


class BetweenBrokersSettings:
    """Logins of brokers, and the users that they are."""

    sasl_mechanism_inter_broker_protocol = string(
        _KERBEROS,
        "the mechanism with which this broker logs in at other brokers",
        scope=Scope.PER_BROKER,
    )
    sasl_mechanism_controller_protocol = string(
        _KERBEROS, "the mechanism with which this broker logs in at its controller"
    )
    super_users: Setting[str | None] = string(
        None,
        "users that may send requests of brokers, on listeners with a login; Kafka's authorizer"
        " allows them everything",
        own=True,
        check=lambda given: _check_users(given),
        range_text="User:NAME each, with semicolons between them",
    )


def parse_users(given: str | None) -> tuple[str, ...]:
    """Parse names of users; raises ValueError."""
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

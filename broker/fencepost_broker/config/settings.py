"""Settings of a process, with checks of their combinations."""

from __future__ import annotations

from fencepost_broker.config.broker import DeclaredSettings
from fencepost_broker.config.checks import contradictions
from fencepost_broker.config.logins import users_of_brokers


class Settings(DeclaredSettings):
    """All settings of a broker or controller, by their Kafka names."""

    def contradictions(self) -> list[str]:
        """Return what is wrong with values that are valid one by one."""
        return contradictions(self)

    @property
    def users_of_brokers(self) -> tuple[str, ...]:
        """Users that may send requests of brokers, where a listener has authentication."""
        return users_of_brokers(self)

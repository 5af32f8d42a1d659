"""The settings of a process, held against each other."""

from __future__ import annotations

from fencepost_broker.config.broker import DeclaredSettings
from fencepost_broker.config.checks import contradictions
from fencepost_broker.config.logins import users_of_brokers


class Settings(DeclaredSettings):
    """All settings of a broker or controller, by their Kafka names."""

    def contradictions(self) -> list[str]:
        """What is wrong with values together that are right one by one."""
        return contradictions(self)

    @property
    def users_of_brokers(self) -> tuple[str, ...]:
        """Who may ask what brokers ask, where a listener asks who comes."""
        return users_of_brokers(self)

"""Brokers and clusters in this program in which scenarios can happen."""

from __future__ import annotations

from fencepost_broker.server.embedded.broker import Broker
from fencepost_broker.server.embedded.cluster import Cluster
from fencepost_broker.server.scenarios.scenario import Scenario


def broker_for(scenario: Scenario) -> Broker:
    """Return a broker as a scenario needs it, which still has to be started."""
    return Broker(**scenario.options, log_level="error")


def cluster_for(scenario: Scenario) -> Cluster:
    """Return a cluster as a scenario needs it, which still has to be started."""
    return Cluster(**scenario.options, log_level="error")

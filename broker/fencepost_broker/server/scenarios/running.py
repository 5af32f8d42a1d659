"""A scenario at a broker or a cluster that runs in another process, by its control port."""

from __future__ import annotations

from typing import Final

from fencepost_client import Admin, ConfigResource, ResourceKind

from fencepost_broker.config.topic_spec import read_topics
from fencepost_broker.server.attached import AttachedBroker
from fencepost_broker.server.scenarios.scenario import Outcome, Scenario, play

_START: Final = "`fencepost scenario run {}` without --control starts what it needs"


class CannotHappenError(Exception):
    """A scenario cannot happen there; the message says why, and what to do."""


async def play_at(scenario: Scenario, broker: AttachedBroker) -> Outcome:
    """Create the scenario's topics, and make it happen.

    Raises ``CannotHappenError`` for a broker or a cluster that is not as the scenario needs it;
    then nothing has changed.
    """
    if why := await _what_is_wrong(scenario, broker):
        raise CannotHappenError(f"{scenario.name} {why}; {_START.format(scenario.name)}")
    for topic in read_topics(scenario.topics):
        broker.create_topic(topic.name, topic.partitions, topic.configs)
    return await play(scenario, broker)


async def _what_is_wrong(scenario: Scenario, broker: AttachedBroker) -> str:
    if scenario.own_broker:
        return f"cannot happen at a broker that runs already: {scenario.own_broker}"
    ids = broker.broker_ids()
    if scenario.brokers and ids != list(range(1, scenario.brokers + 1)):
        return (
            f"needs a cluster of {scenario.brokers} brokers with the ids 1 to {scenario.brokers},"
            f" and this one has {', '.join(map(str, ids))}"
        )
    if not scenario.brokers and len(ids) != 1:
        return f"needs a single broker, and this is a cluster of {len(ids)}"
    for topic in read_topics(scenario.topics):
        if broker.explain_partition(topic.name, 0) is not None:
            return f"needs a new topic {topic.name}, which exists already"
    return await _wrong_setting(scenario, broker, ids[0])


async def _wrong_setting(scenario: Scenario, broker: AttachedBroker, node_id: int) -> str:
    resource = ConfigResource(ResourceKind.BROKER, str(node_id))
    async with Admin(broker.bootstrap) as admin:
        found = (await admin.describe_configs([resource], list(scenario.settings)))[resource]
    for name, value in scenario.settings.items():
        wanted = str(value).lower() if isinstance(value, bool) else str(value)
        if found[name].value != wanted:
            return f"needs a broker with -c {name}={wanted}, and here it is {found[name].value!r}"
    return ""

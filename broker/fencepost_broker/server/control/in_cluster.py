"""Who carries out a route at the control port of a cluster, and what becomes of several answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from fencepost_broker.server.control.cluster import Cluster, GoneError
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import Asked, InCluster, Route

T = TypeVar("T")


async def any_broker(cluster: Cluster, route: Route, asked: Asked) -> Any:
    """Ask one broker: all of them know the same."""
    *others, last = cluster.running_brokers
    for each in others:
        with suppress(GoneError):
            return await cluster.ask(each, route, asked)
    return await cluster.ask(last, route, asked)


async def broker_that_has_it(cluster: Cluster, route: Route, asked: Asked) -> Any:
    """Ask all brokers, and return the answer of one that does not refuse it."""
    answers = await cluster.try_all(cluster.running_brokers, route, asked)
    refused = [each for each in answers.values() if isinstance(each, ProblemError)]
    if len(refused) == len(answers):
        raise refused[0]
    return next(each for each in answers.values() if not isinstance(each, ProblemError))


def all_brokers(unite: Callable[[Sequence[T]], T] = lambda answers: answers[0]) -> InCluster:
    """Ask all brokers, and unite their answers."""

    async def carry_out(cluster: Cluster, route: Route, asked: Asked) -> T:
        answers = await cluster.ask_all(cluster.running_brokers, route, asked)
        return unite(list(answers.values()))

    return carry_out


async def all_processes(cluster: Cluster, route: Route, asked: Asked) -> Any:
    """Ask the brokers and the controller, and return one of the answers."""
    answers = await cluster.ask_all(cluster.running, route, asked)
    return next(iter(answers.values()))

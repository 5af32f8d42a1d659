"""What all brokers of a cluster have under numbers of their own: held markers, faults of the disk.

The cluster's port gives each of them one more number, for all brokers.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from fencepost_broker.server.control.cluster import Cluster, Numbered
from fencepost_broker.server.control.problems import ProblemError, not_found
from fencepost_broker.server.control.routes import Asked, InCluster, Route

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def add(what: str, *, for_started: bool) -> InCluster:
    """Add it to all brokers, or to none if one refuses it; ``what`` is the field of its number."""

    async def carry_out(cluster: Cluster, route: Route, asked: Asked) -> Any:
        async with cluster.changing:
            answers = await cluster.try_all(cluster.running_brokers, route, asked)
            refused = [each for each in answers.values() if isinstance(each, ProblemError)]
            added: dict[int, Any] = {
                broker: each
                for broker, each in answers.items()
                if not isinstance(each, ProblemError)
            }
            numbers = {broker: getattr(each, what) for broker, each in added.items()}
            made = Numbered(route.path, asked.body, what, for_started, numbers)
            if refused:
                await _remove(cluster, made)
                raise refused[0]
            number = next(cluster.next_number)
            cluster.numbered[number] = made
            return replace(next(iter(added.values())), **{what: number})

    return carry_out


def remove(what: str, name: str) -> InCluster:
    """Remove one from all brokers; ``name`` is for users."""

    async def carry_out(cluster: Cluster, route: Route, asked: Asked) -> None:
        path, number = route.path.rpartition("/")[0], getattr(asked.request, what)
        async with cluster.changing:
            known = of_path(cluster, path)
            if number not in known:
                raise not_found(name, str(number), map(str, known), where=f"path, $.{what}")
            await _remove(cluster, cluster.numbered.pop(number))

    return carry_out


async def clear(cluster: Cluster, route: Route, asked: Asked) -> None:
    """Remove all from all brokers."""
    async with cluster.changing:
        for number in of_path(cluster, route.path):
            del cluster.numbered[number]
        await cluster.ask_all(cluster.running_brokers, route, asked)


def list_all(unite: Callable[[Sequence[Any]], Any] = lambda found: found[0]) -> InCluster:
    """Return those that all brokers were given; ``unite`` makes one of what brokers say."""

    async def carry_out(cluster: Cluster, route: Route, asked: Asked) -> Any:
        answers = await cluster.ask_all(cluster.running_brokers, route, asked)
        (name,) = route.response.__struct_fields__
        listed = []
        for number, each in of_path(cluster, route.path).items():
            found = [
                one
                for broker, answer in answers.items()
                for one in getattr(answer, name)
                if getattr(one, each.field) == each.numbers.get(broker)
            ]
            if found:
                listed.append(replace(unite(found), **{each.field: number}))
        return route.response(listed)

    return carry_out


def of_path(cluster: Cluster, path: str) -> dict[int, Numbered]:
    """Return those of a collection of the control port, by their numbers."""
    return {number: each for number, each in cluster.numbered.items() if each.path == path}


async def _remove(cluster: Cluster, numbered: Numbered) -> None:
    for broker, number in numbered.numbers.items():
        with suppress(ProblemError):  # the broker has ended, or it was removed there
            await cluster.send(broker, "DELETE", f"{numbered.path}/{number}")

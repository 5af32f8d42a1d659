"""Brokers of the cluster, and the counters of this one."""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from fencepost_broker.server.control.cluster import Cluster, GoneError
from fencepost_broker.server.control.routes import Asked, ControlContext, Route


class BrokerState(Struct, frozen=True):
    """A registered broker."""

    broker_id: int
    listeners: Annotated[dict[str, str], Meta(description="HOST:PORT by listener")]
    ready: Annotated[bool, Meta(description="whether it is unfenced and may lead partitions")]
    here: Annotated[bool, Meta(description="whether it is the broker of this control port")]
    producer_ids: Annotated[
        list[tuple[int, int]] | None,
        Meta(
            description="the ids that it can still give to producers: first and last of each block;"
            " null: only its own control port knows them"
        ),
    ]


class Brokers(Struct, frozen=True):
    """The brokers of the cluster, as the broker of this control port knows them."""

    cluster_id: str
    bootstrap: Annotated[str, Meta(description="HOST:PORT for bootstrap.servers")]
    node_id: Annotated[int, Meta(description="the id of this process's broker or controller")]
    controller: Annotated[
        str | None, Meta(description="HOST:PORT for brokers that join, if they may")
    ]
    brokers: list[BrokerState]


def list_brokers(context: ControlContext) -> Brokers:
    """Return the brokers of the cluster."""
    server = context.process.server
    identity = server.identity
    own = None
    if context.kind == "broker":
        own = [(each.start, each.stop - 1) for each in context.server.producer_ids.left]
    return Brokers(
        identity.cluster_id,
        context.addresses[0].bootstrap,
        identity.node_id,
        next((each.bootstrap for each in context.process.controller_addresses), None),
        [
            BrokerState(
                each.broker_id,
                {at.name: _host_and_port(at.host, at.port) for at in each.endpoints},
                each.is_active,
                each.broker_id == identity.node_id,
                own if each.broker_id == identity.node_id else None,
            )
            for _, each in sorted(server.image.cluster.brokers.items())
        ],
    )


def _host_and_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def get_stats(context: ControlContext) -> dict[str, Any]:
    """Return the counters of this broker."""
    return context.process.stats()


async def _of_cluster(cluster: Cluster, route: Route, asked: Asked) -> Brokers:
    answers: dict[int, Brokers] = await cluster.ask_all(cluster.running_brokers, route, asked)
    if not answers:
        raise GoneError("all brokers")
    told, *_ = answers.values()
    own = {
        each.broker_id: each.producer_ids
        for answer in answers.values()
        for each in answer.brokers
        if each.here
    }
    brokers = [
        replace(each, here=True, producer_ids=own.get(each.broker_id)) for each in told.brokers
    ]
    return replace(told, bootstrap=cluster.processes.bootstrap, brokers=brokers)


async def _stats_of_cluster(cluster: Cluster, route: Route, asked: Asked) -> dict[str, Any]:
    """Return the counters of each process, by its id."""
    answers = await cluster.ask_all(cluster.running, route, asked)
    return {str(node_id): each for node_id, each in answers.items()}


ROUTES: Final = (
    Route(
        "GET",
        "/v1/brokers",
        list_brokers,
        "the brokers of the cluster",
        response=Brokers,
        in_cluster=_of_cluster,
    ),
    Route(
        "GET",
        "/v1/stats",
        get_stats,
        "counters: requests, errors, durations, topics; of a cluster, by the id of each process",
        response=dict[str, Any],
        in_cluster=_stats_of_cluster,
    ),
)

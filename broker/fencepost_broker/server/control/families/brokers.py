"""Brokers of the cluster, and the counters of this one."""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from fencepost_broker.server.control.routes import ControlContext, Route


class BrokerState(Struct, frozen=True):
    """A registered broker."""

    broker_id: int
    listeners: Annotated[dict[str, str], Meta(description="HOST:PORT by listener")]
    ready: Annotated[bool, Meta(description="whether it is unfenced and may lead partitions")]
    here: Annotated[bool, Meta(description="whether it is the broker of this control port")]


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
            )
            for _, each in sorted(server.image.cluster.brokers.items())
        ],
    )


def _host_and_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def get_stats(context: ControlContext) -> dict[str, Any]:
    """Return the counters of this broker."""
    return context.process.stats()


ROUTES: Final = (
    Route("GET", "/v1/brokers", list_brokers, "the brokers of the cluster", response=Brokers),
    Route(
        "GET",
        "/v1/stats",
        get_stats,
        "counters of this broker: requests, errors, durations, topics",
        response=dict[str, Any],
    ),
)

"""The options of ``Broker`` and of ``Cluster``, for functions that pass them on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

from fencepost_broker.config import Value
from fencepost_broker.server.clock import StateClock

if TYPE_CHECKING:
    from fencepost_broker.coordinator.runtime.steps import OnStep


class Options(TypedDict, total=False):
    """See ``fencepost_broker.Broker``."""

    settings: Mapping[str, Value]
    host: str
    port: int
    data_dir: str | Path
    topics: Iterable[str] | Mapping[str, int]
    users: Mapping[str, str]
    tls_cert: str | Path
    tls_key: str | Path
    clock: StateClock | Literal["manual"]
    release: str
    control: int | str
    control_token_file: str | Path
    log_level: str
    on_step: OnStep


class ClusterOptions(TypedDict, total=False):
    """See ``fencepost_broker.Cluster``."""

    brokers: int
    topics: Iterable[str] | Mapping[str, int]
    settings: Mapping[str, Value]
    control: int | str
    control_token_file: str | Path
    log_level: str
    port: int

"""The broker as a parameter: ours, and Apache Kafka where the test asks for both."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
from fencepost_broker import Broker

from tests.sdk.coverage import RUNS_WHOLE, check_reasons, is_left_out, of_the_sdk
from tests.sdk.harness.blocking import BrokerThread
from tests.sdk.harness.commands import Shell
from tests.support.apache_kafka import ApacheKafka
from tests.support.restarting import Restarting
from tests.support.secure_kafka import SecureFencepost, SecureKafka, make_certificates

QUICK: Final = {
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 100,
    "group.consumer.min.assignment.interval.ms": 0,
    "group.consumer.assignment.interval.ms": 0,
    "group.share.min.heartbeat.interval.ms": 100,
    "group.share.heartbeat.interval.ms": 100,
    "group.share.assignment.interval.ms": 0,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 100,
}
"""The same groups in less time."""
KAFKA_QUICK: Final = {name: str(value) for name, value in QUICK.items()}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """See coverage.py."""
    own = of_the_sdk(items)
    if RUNS_WHOLE:
        check_reasons(own)
    left_out = {item for item in own if is_left_out(item)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def apache_kafka() -> Iterator[ApacheKafka]:
    """One Apache Kafka for all tests of this process."""
    with ApacheKafka(KAFKA_QUICK) as kafka:
        yield kafka


@pytest.fixture(scope="session")
def secure_kafka() -> Iterator[SecureKafka]:
    """One that asks who it is, for all tests of this process."""
    with SecureKafka() as kafka:
        yield kafka


@pytest_asyncio.fixture(params=["fencepost", pytest.param("kafka", marks=pytest.mark.conformance)])
async def bootstrap(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """Where to connect; topics are the test's own, by the name of ``topic``."""
    if request.param == "kafka":
        yield request.getfixturevalue("apache_kafka").bootstrap
        return
    async with Broker(settings=QUICK) as broker:
        yield broker.bootstrap


@pytest_asyncio.fixture(
    params=["fencepost", pytest.param("kafka", marks=(pytest.mark.slow, pytest.mark.conformance))]
)
async def secured(request: pytest.FixtureRequest) -> AsyncIterator[SecureKafka | SecureFencepost]:
    """One that asks who it is."""
    if request.param == "kafka":
        yield request.getfixturevalue("secure_kafka")
        return
    async with SecureFencepost(request.getfixturevalue("certificates")) as broker:
        yield broker


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As those of ``secure_kafka``."""
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder)
    return folder


_IS_LONG = (pytest.mark.conformance, pytest.mark.long_on_kafka)


@pytest_asyncio.fixture(params=["fencepost", pytest.param("kafka", marks=_IS_LONG)])
async def restarting(request: pytest.FixtureRequest) -> AsyncIterator[Restarting]:
    if request.param == "kafka":
        with ApacheKafka(KAFKA_QUICK) as kafka:
            yield Restarting(kafka)
        return
    async with Broker(settings=QUICK) as broker:
        yield Restarting(broker)


@pytest_asyncio.fixture(autouse=True)
async def _nothing_is_left() -> AsyncIterator[None]:
    """No task outlives the test that started it (sockets: ResourceWarning is an error)."""
    before = asyncio.all_tasks()
    yield
    own = {asyncio.current_task()}
    left = {task for task in asyncio.all_tasks() - before - own if not task.done()}
    assert not left, f"still running: {left}"


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic name of this test's own, and of its second try."""
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)
    tries = getattr(request.node, "execution_count", 1)
    return name if tries == 1 else f"{name}{tries}"


@pytest.fixture(scope="module")
def ours() -> Iterator[str]:
    """A broker of the module's, in a thread of its own."""
    with BrokerThread(QUICK) as bootstrap:
        yield bootstrap


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=pytest.mark.conformance)])
def servers(request: pytest.FixtureRequest) -> str:
    """Where blocking clients connect."""
    if request.param == "kafka":
        kafka: str = request.getfixturevalue("apache_kafka").bootstrap
        return kafka
    found: str = request.getfixturevalue("ours")
    return found


@pytest.fixture
def no_thread_is_left() -> Iterator[None]:
    """The portal has ended with its last client."""
    yield
    left = [each.name for each in threading.enumerate() if each.name.startswith("fencepost-client")]
    assert not left


@pytest.fixture
def shell(bootstrap: str, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Runs commands against ``bootstrap``."""
    return Shell(bootstrap, capsys)

"""The pytest fixtures, which are available wherever Fencepost is installed.

    @pytest.mark.fencepost(topics={"orders": 3})
    def test_orders(fencepost):
        producer = confluent_kafka.Producer({"bootstrap.servers": fencepost.bootstrap})

The mark has options of ``fencepost_broker.blocking.Broker``, or the name of a scenario. The broker
is imported when the first test asks for it. The report of a test that fails has a section about its
brokers. A test fails if a fault rule of its brokers never fired.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from fencepost_broker.blocking import Broker, Cluster
    from fencepost_broker.server.scenarios.scenario import Scenario

SECTION: Final = "fencepost"
_used: Final = pytest.StashKey[list["Broker | Cluster"]]()
"""The brokers and clusters of a test."""


class _AsTheyAre(MetaPathFinder):
    """Finds this distribution's modules before pytest's own finder does.

    pytest rewrites the assertions of each distribution with a plugin. Compiling all these modules
    anew takes a second in every fresh environment, and in every run that may not write files.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of ours as Python does without pytest."""
        if name.partition(".")[0] in ("fencepost_broker", "fencepost_client", "fencepost_protocol"):
            return PathFinder.find_spec(name, path, target)
        return None


sys.meta_path.insert(0, _AsTheyAre())


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line(
        "markers",
        "fencepost(**options): options of the broker that the fixture `fencepost` starts, as"
        ' topics={"orders": 3}; `fencepost_cluster` also takes brokers=3',
    )


@pytest.fixture
def fencepost(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """A Kafka broker of this test's own, empty, in a thread; `fencepost.bootstrap` is its address.

    Its options are the mark's: `@pytest.mark.fencepost(topics={"orders": 3})`. With
    `scenario="late-end-txn"`, it is a broker in which that scenario has just happened.
    """
    from fencepost_broker.blocking import Broker

    options = _options(request)
    scenario = _scenario(request, options.pop("scenario", None), "fencepost")
    with Broker(**(scenario.options if scenario else {}), **options) as broker:
        if scenario is not None:
            broker.play(scenario)
        _report_on(request, broker)
        yield broker


class _SessionBrokers:
    """The brokers of a test run, by their options."""

    def __init__(self) -> None:
        self._brokers: dict[str, Broker] = {}

    def empty(self, options: dict[str, Any]) -> Broker:
        """Return the broker with these options, as it was right after its start."""
        from fencepost_broker.blocking import Broker

        key = repr(sorted(options.items()))
        broker = self._brokers.get(key)
        if broker is not None:
            try:
                broker.reset()
            except Exception:  # noqa: BLE001 (a test has stopped or broken it: the next gets another)
                self._brokers.pop(key).stop()
            else:
                return broker
        broker = self._brokers[key] = Broker(**options)
        broker.start()
        return broker

    def stop(self) -> None:
        """Stop all of them."""
        for broker in self._brokers.values():
            broker.stop()


@pytest.fixture(scope="session")
def _fencepost_brokers() -> Iterator[_SessionBrokers]:
    brokers = _SessionBrokers()
    yield brokers
    brokers.stop()


@pytest.fixture
def fencepost_session(
    request: pytest.FixtureRequest, _fencepost_brokers: _SessionBrokers
) -> Broker:
    """A Kafka broker that is empty for each test, and runs from the first one to the last.

    All tests whose marks differ in `topics` only share a broker, and its port.
    """
    from fencepost_broker.config.topic_spec import read_topics

    options = _options(request)
    topics = read_topics(options.pop("topics", ()))
    broker = _fencepost_brokers.empty(options)
    _report_on(request, broker)
    for topic in topics:
        broker.create_topic(topic.name, topic.partitions, topic.configs)
    return broker


@pytest.fixture
def fencepost_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster of this test's own: a controller and three brokers, or `brokers=2` in the mark.

    Its other options are the mark's, as those of `fencepost`. It takes scenarios of clusters.
    """
    from fencepost_broker.blocking import Cluster

    options = _options(request)
    scenario = _scenario(request, options.pop("scenario", None), "fencepost_cluster")
    with Cluster(**(scenario.options if scenario else {}), **options) as cluster:
        if scenario is not None:
            cluster.play(scenario)
        _report_on(request, cluster)
        yield cluster


def _scenario(request: pytest.FixtureRequest, name: str | None, fixture: str) -> Scenario | None:
    if name is None:
        return None
    from fencepost_broker.server.scenarios import SCENARIOS

    if name not in SCENARIOS:
        raise pytest.UsageError(
            f"{request.node.nodeid}: there is no scenario {name!r};"
            f" there are {', '.join(SCENARIOS)}"
        )
    scenario = SCENARIOS[name]
    if fixture != (needed := "fencepost_cluster" if scenario.brokers else "fencepost"):
        raise pytest.UsageError(
            f"{request.node.nodeid}: {name} needs the fixture {needed}, not {fixture}"
        )
    return scenario


def _options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the options of the mark."""
    mark = request.node.get_closest_marker("fencepost")
    if mark is None:
        return {}
    if mark.args:
        raise pytest.UsageError(
            f"{request.node.nodeid}: options of @pytest.mark.fencepost need names,"
            ' as topics={"orders": 3}'
        )
    return dict(mark.kwargs)


# -- reports ---------------------------------------------------------------------------------------


def _report_on(request: pytest.FixtureRequest, what: Broker | Cluster) -> None:
    what.remember_requests()
    request.node.stash.setdefault(_used, []).append(what)


def _sections(used: Broker | Cluster) -> list[tuple[str, str]]:
    """Describe a broker, or each of a cluster that runs."""
    told = used.explain()
    if isinstance(told, str):
        return [(SECTION, told)]
    return [(f"{SECTION} broker {number}", text) for number, text in told.items()]


def _unfired(used: Broker | Cluster) -> list[str]:
    """Return the names of rules that never fired; none if the broker was stopped."""
    try:
        return used.unfired_faults()
    except RuntimeError:
        return []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Describe the brokers of a test that has failed, as they are now."""
    report = yield
    if report.passed and call.when == "call" and not hasattr(report, "wasxfail"):
        unfired = [name for used in item.stash.get(_used, []) for name in _unfired(used)]
        if unfired:
            report.outcome = "failed"
            report.longrepr = (
                f"fault rules that never fired: {', '.join(unfired)}\n"
                "The test would have passed without them."
                " may_stay_unfired=True exempts a rule from this check."
            )
    if report.failed and call.when == "call":
        for used in item.stash.get(_used, []):
            with suppress(Exception):  # the failure itself is more important
                report.sections += _sections(used)
    return report

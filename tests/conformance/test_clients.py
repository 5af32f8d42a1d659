"""Unmodified clients against a running broker: ours, or Apache Kafka as the measure of the scripts.

The broker is `fencepost up` unless FENCEPOST_TEST_BROKER says `kafka`, or `fencepost-cluster` for
three brokers and a controller; one client meets it on plain asyncio as well, without uvloop. The
scripts of all chosen clients run at the same time, as many as there are processors: first all
scenarios without an outage, then the one behind an orderly restart of the broker (in a cluster of
one process after the other), then the one behind a kill -9 (of all of them).

What came out is left in build/clients, for `python -m tests.conformance.clients.page`.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from operator import methodcaller
from typing import Any, Final, TypeAlias

import pytest

from tests.conformance.clients.brokers import (
    CLUSTER,
    BrokerUnavailableError,
    RunningBroker,
    start_broker,
)
from tests.conformance.clients.clients import CLIENTS, ClientUnavailableError
from tests.conformance.clients.harness import (
    SCENARIOS,
    ScriptRun,
    missing_by_check,
    missing_for,
    run,
)
from tests.conformance.clients.page import keep
from tests.support.apache_kafka import KafkaUnavailableError

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

BROKER_KIND = os.environ.get("FENCEPOST_TEST_BROKER", "fencepost")

# Each of these scenarios has its outage of the broker in front of it, in this order. What a
# scenario finds there was written by the one before; the first of them is told so.
OUTAGES: Final[Mapping[str, Callable[[RunningBroker], None]]] = {
    "restart-after": methodcaller("restart"),
    "kill-after": methodcaller("kill_and_start"),
}
# Their checks expect one broker, which leads and has everything.
OF_ONE_BROKER: Final = {"admin", "cluster"}
TRIED: Final = [one for one in SCENARIOS if BROKER_KIND != CLUSTER or one not in OF_ONE_BROKER]
BEFORE_OUTAGES = "restart-before"

Leg: TypeAlias = tuple[str, str]
"""A kind of broker and a client."""

LEGS: list[Leg] = [(BROKER_KIND, client) for client in CLIENTS]
if BROKER_KIND == "fencepost":
    LEGS.append(("fencepost-asyncio", "confluent-kafka"))


def _name(leg: Leg) -> str:
    kind, client = leg
    return f"{client}-asyncio" if kind == "fencepost-asyncio" else client


@dataclass
class Session:
    """A broker, and what the scripts of the chosen clients reported so far."""

    broker: RunningBroker
    chosen: Mapping[str, list[str]]
    runs: dict[tuple[str, str], ScriptRun] = field(default_factory=dict)
    failures: dict[str, Exception] = field(default_factory=dict)
    outages_to_come: list[str] = field(default_factory=lambda: list(OUTAGES))

    def result(self, client: str, scenario: str) -> ScriptRun:
        """What the script reported of the scenario, which is run now unless it was before."""
        if not self.runs and not self.failures:
            self._run_all({client: self._without_outage(client) for client in self.chosen})
        while (client, scenario) not in self.runs and client not in self.failures:
            behind = self.outages_to_come.pop(0)
            try:
                OUTAGES[behind](self.broker)
            except Exception as error:
                self.failures.update(dict.fromkeys(self.chosen, error))
                raise
            going = [client for client in self.chosen if self._goes_behind(client, behind)]
            self._run_all({client: [behind] for client in going})
        if (client, scenario) not in self.runs:
            raise self.failures[client]
        return self.runs[client, scenario]

    def _goes_behind(self, client: str, outage: str) -> bool:
        """Whether the scenario behind this outage or behind a later one was chosen."""
        order = list(OUTAGES)
        return any(later in self.chosen[client] for later in order[order.index(outage) :])

    def _without_outage(self, client: str) -> list[str]:
        chosen = self.chosen[client]
        if not OUTAGES.keys().isdisjoint(chosen):
            chosen = [*chosen, BEFORE_OUTAGES]
        return [
            scenario
            for scenario in SCENARIOS
            if scenario in chosen and scenario not in OUTAGES
            if not missing_for(CLIENTS[client], self.broker.bootstrap, scenario)
        ]

    def _run_all(self, scenarios_of: Mapping[str, list[str]]) -> None:
        """Runs the clients' scripts, at the same time."""

        def run_one(client: str) -> None:
            scenarios = scenarios_of[client]
            if client in self.failures or not scenarios:
                return
            try:
                result = run(CLIENTS[client], self.broker.bootstrap, client, scenarios)
            except Exception as error:  # noqa: BLE001 (raised by each of the client's tests)
                self.failures[client] = error
            else:
                self.runs.update(dict.fromkeys(((client, one) for one in scenarios), result))

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(run_one, scenarios_of))


@pytest.fixture(scope="module")
def sessions(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Session]]:
    """A session for each kind of broker, begun when it is first asked for."""
    chosen: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.path == request.path:
            leg: Any = item.callspec.params["leg"]
            kind, client = leg
            chosen[kind][client].append(str(item.callspec.params["scenario"]))
    begun: dict[str, Session] = {}
    with ExitStack() as stack:

        def session(kind: str) -> Session:
            if kind not in begun:
                begun[kind] = Session(stack.enter_context(start_broker(kind)), chosen[kind])
            return begun[kind]

        yield session
        for kind, one in begun.items():
            keep(kind, one.runs)


@pytest.mark.parametrize("scenario", TRIED)
@pytest.mark.parametrize("leg", LEGS, ids=_name)
def test_client(
    leg: Leg,
    scenario: str,
    sessions: Callable[[str], Session],
    subtests: pytest.Subtests,
) -> None:
    kind, client = leg
    try:
        session = sessions(kind)
        missing = missing_for(CLIENTS[client], session.broker.bootstrap, scenario)
        if missing:
            pytest.skip(f"this broker does not serve {', '.join(missing)}")
        result = session.result(client, scenario)
    except (BrokerUnavailableError, KafkaUnavailableError) as error:
        pytest.skip(str(error))
    except ClientUnavailableError as error:
        pytest.skip(f"{client} is not here: {error}")
    unserved = missing_by_check(session.broker.bootstrap, scenario)
    failures = result.failures(scenario, unserved)
    if failures:
        broker_said = session.broker.stderr()[-3000:]
        print(f"{client} said:\n{result.stderr}\n\nthe broker said:\n{broker_said}")
        pytest.fail("\n".join([f"{client}, {scenario}:", *failures]), pytrace=False)
    for name, apis in unserved.items():
        with subtests.test(name):
            pytest.skip(f"{name}: this broker does not serve {', '.join(apis)}")
    unsupported = result.unsupported(scenario)
    if len(unsupported) == len(SCENARIOS[scenario]):
        pytest.skip(f"unsupported by {client}, {scenario}: {unsupported[0].detail}")
    for check in unsupported:
        with subtests.test(check.name):
            pytest.skip(f"unsupported by {client}, {check.name}: {check.detail}")

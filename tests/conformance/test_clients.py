"""Unmodified clients against a running broker: ours, or Apache Kafka as the measure of the scripts.

The broker is `fencepost up` unless FENCEPOST_TEST_BROKER says `kafka`; one client meets it on plain
asyncio as well, without uvloop. Each client's script runs once for all its chosen scenarios, then
once behind an orderly restart of the broker, and once behind a kill -9.

What came out is left in build/clients, for `python -m tests.conformance.clients.page`.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from operator import methodcaller
from typing import Any, Final, TypeAlias

import pytest

from tests.conformance.clients.brokers import (
    BrokerUnavailableError,
    RunningBroker,
    missing_apis,
    start_broker,
)
from tests.conformance.clients.clients import CLIENTS, ClientUnavailableError
from tests.conformance.clients.harness import SCENARIOS, ScriptRun, run
from tests.conformance.clients.page import keep
from tests.support.apache_kafka import KafkaUnavailableError

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

BROKER_KIND = os.environ.get("FENCEPOST_TEST_BROKER", "fencepost")

Outage: TypeAlias = Callable[[RunningBroker], None]

# The scenarios behind an outage: which one, and what ran before it.
OUTAGES: Final[Mapping[str, tuple[Outage, str]]] = {
    "restart-after": (methodcaller("restart"), "restart-before"),
    "kill-after": (methodcaller("kill_and_start"), "restart-after"),
}

Leg: TypeAlias = tuple[str, str]
"""A kind of broker and a client."""

LEGS: list[Leg] = [(BROKER_KIND, client) for client in CLIENTS]
if BROKER_KIND == "fencepost":
    LEGS.append(("fencepost-asyncio", "confluent-kafka"))

# In the order of the run: on one worker the broker goes down twice, for all clients together.
CASES = [
    *((leg, scenario) for leg in LEGS for scenario in SCENARIOS if scenario not in OUTAGES),
    *((leg, scenario) for scenario in OUTAGES for leg in LEGS),
]


def _case(leg: Leg, scenario: str) -> object:
    name = "-".join([leg[1], *(["asyncio"] if leg[0] == "fencepost-asyncio" else []), scenario])
    # With pytest-xdist a client stays with one worker and its broker.
    return pytest.param(leg, scenario, id=name, marks=pytest.mark.xdist_group("-".join(leg)))


@dataclass
class Session:
    """A broker, and what the scripts reported so far."""

    broker: RunningBroker
    chosen: dict[str, list[str]]
    outages: list[Outage] = field(default_factory=list)
    runs: dict[tuple[str, str], ScriptRun] = field(default_factory=dict)
    outages_seen: dict[tuple[str, str], int] = field(default_factory=dict)
    failures: dict[str, Exception] = field(default_factory=dict)

    def result(self, client: str, scenario: str) -> ScriptRun:
        """What the script reported of the scenario, which is run now unless it was before."""
        if client in self.failures:
            raise self.failures[client]
        if (client, scenario) not in self.runs:
            if scenario in OUTAGES:
                self._go_down_behind(client, *OUTAGES[scenario])
                self._run(client, [scenario])
            else:
                self._run(client, self._first(client))
        return self.runs[client, scenario]

    def _first(self, client: str) -> list[str]:
        """What runs before all outages, of what was chosen or is needed by what was chosen."""
        chosen = self.chosen[client]
        if not OUTAGES.keys().isdisjoint(chosen):
            chosen = [*chosen, "restart-before"]
        return [
            scenario
            for scenario in SCENARIOS
            if scenario in chosen and scenario not in OUTAGES
            if not missing_apis(self.broker.bootstrap, scenario)
        ]

    def _go_down_behind(self, client: str, outage: Outage, before: str) -> None:
        """Lets the broker go down, unless it did so since the client did what is to survive."""
        self.result(client, before)
        if outage not in self.outages[self.outages_seen[client, before] :]:
            outage(self.broker)
            self.outages.append(outage)

    def _run(self, client: str, scenarios: list[str]) -> None:
        try:
            result = run(CLIENTS[client], self.broker.bootstrap, client, scenarios)
        except Exception as error:  # what cannot be built now cannot be built for the next test
            self.failures[client] = error
            raise
        for scenario in scenarios:
            self.runs[client, scenario] = result
            self.outages_seen[client, scenario] = len(self.outages)


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


@pytest.mark.parametrize(("leg", "scenario"), [_case(*case) for case in CASES])
def test_client(
    leg: Leg,
    scenario: str,
    sessions: Callable[[str], Session],
    subtests: pytest.Subtests,
) -> None:
    kind, client = leg
    try:
        session = sessions(kind)
        missing = missing_apis(session.broker.bootstrap, scenario)
        if missing:
            pytest.skip(f"this broker does not serve {', '.join(missing)}")
        result = session.result(client, scenario)
    except (BrokerUnavailableError, KafkaUnavailableError) as error:
        pytest.skip(str(error))
    except ClientUnavailableError as error:
        pytest.skip(f"{client} is not here: {error}")
    failures = result.failures(scenario)
    if failures:
        broker_said = session.broker.stderr()[-3000:]
        print(f"{client} said:\n{result.stderr}\n\nthe broker said:\n{broker_said}")
        pytest.fail("\n".join([f"{client}, {scenario}:", *failures]), pytrace=False)
    unsupported = result.unsupported(scenario)
    if len(unsupported) == len(SCENARIOS[scenario]):
        pytest.skip(f"unsupported by {client}, {scenario}: {unsupported[0].detail}")
    for check in unsupported:
        with subtests.test(check.name):
            pytest.skip(f"unsupported by {client}, {check.name}: {check.detail}")

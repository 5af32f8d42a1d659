"""Unmodified clients against a running broker: ours, or Apache Kafka as the measure of the scripts.

The broker is `fencepost up` unless FENCEPOST_TEST_BROKER says `kafka`. Each client's script runs
once for all its chosen scenarios, and once more after one restart of the broker for all clients.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.conformance.clients.brokers import (
    BrokerUnavailableError,
    RunningBroker,
    missing_apis,
    start_broker,
)
from tests.conformance.clients.harness import (
    CLIENTS,
    SCENARIOS,
    Client,
    ClientUnavailableError,
    ScriptRun,
    run,
)
from tests.support.apache_kafka import KafkaUnavailableError

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

BROKER_KIND = os.environ.get("FENCEPOST_TEST_BROKER", "fencepost")

BEFORE, AFTER = "restart-before", "restart-after"

# In the order of the run: the broker is restarted once, between the last two columns.
CASES = [
    *((client, scenario) for client in CLIENTS for scenario in SCENARIOS if scenario != AFTER),
    *((client, AFTER) for client in CLIENTS),
]


@dataclass
class Session:
    """The broker, and what the scripts reported so far."""

    broker: RunningBroker
    chosen: list[tuple[str, str]]
    restarts: int = 0
    runs: dict[tuple[str, str], ScriptRun] = field(default_factory=dict)
    written_at: dict[str, int] = field(default_factory=dict)

    def result(self, client: Client, scenario: str) -> ScriptRun:
        """What the script reported of the scenario, which is run now unless it was before."""
        if (client.name, scenario) not in self.runs:
            if scenario == AFTER:
                self._restart_behind(client)
                self._run(client, [AFTER])
            else:
                self._run(client, self._before_restart(client))
        return self.runs[client.name, scenario]

    def _before_restart(self, client: Client) -> list[str]:
        chosen = [scenario for name, scenario in self.chosen if name == client.name]
        chosen = [BEFORE if scenario == AFTER else scenario for scenario in chosen]
        served = [one for one in chosen if not missing_apis(self.broker.bootstrap, one)]
        return list(dict.fromkeys(served))

    def _restart_behind(self, client: Client) -> None:
        """Restarts the broker, unless it was since the client wrote."""
        self.result(client, BEFORE)
        if self.written_at[client.name] == self.restarts:
            self.broker.restart()
            self.restarts += 1

    def _run(self, client: Client, scenarios: list[str]) -> None:
        result = run(client, self.broker.bootstrap, client.name, scenarios)
        self.runs.update(dict.fromkeys(((client.name, one) for one in scenarios), result))
        if BEFORE in scenarios:
            self.written_at[client.name] = self.restarts


@pytest.fixture(scope="module")
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    chosen = [
        case
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.path == request.path
        for case in CASES
        if case == item.callspec.params["case"]
    ]
    try:
        with start_broker(BROKER_KIND) as broker:
            yield Session(broker, chosen)
    except (BrokerUnavailableError, KafkaUnavailableError) as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case))
def test_client(case: tuple[str, str], session: Session, subtests: pytest.Subtests) -> None:
    name, scenario = case
    missing = missing_apis(session.broker.bootstrap, scenario)
    if missing:
        pytest.skip(f"this broker does not serve {', '.join(missing)}")
    try:
        result = session.result(CLIENTS[name], scenario)
    except ClientUnavailableError as error:
        pytest.skip(f"{name} is not here: {error}")
    failures = result.failures(scenario)
    if failures:
        broker_said = session.broker.stderr()[-3000:]
        print(f"{name} said:\n{result.stderr}\n\nthe broker said:\n{broker_said}")
        pytest.fail("\n".join([f"{name}, {scenario}:", *failures]), pytrace=False)
    unsupported = result.unsupported(scenario)
    if len(unsupported) == len(SCENARIOS[scenario]):
        pytest.skip(f"unsupported by {name}, {scenario}: {unsupported[0].detail}")
    for check in unsupported:
        with subtests.test(check.name):
            pytest.skip(f"unsupported by {name}, {check.name}: {check.detail}")

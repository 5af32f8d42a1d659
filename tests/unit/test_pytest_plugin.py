"""The fixtures, as a program's own tests have them, and the report when one fails."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PLUGIN = "fencepost_broker.server.pytest_plugin"
TESTS = """
import sys, time
import pytest

def test_nothing_of_a_broker_is_imported_before_it_is_asked_for():
    assert "fencepost_broker.server.embedded.broker" not in sys.modules

@pytest.mark.fencepost(topics={"orders": 3}, settings={"num.partitions": 7})
def test_the_mark_says_its_options(fencepost):
    assert fencepost.stats()["topics"].keys() == {"orders"}
    assert fencepost.settings.num_partitions == 7

def test_modules_are_not_compiled_anew_for_pytest(fencepost):
    import fencepost_client
    for name in ("fencepost_broker.blocking", "fencepost_client"):
        assert not type(sys.modules[name].__loader__).__module__.startswith("_pytest"), name

def test_each_test_has_its_own(fencepost):
    assert not fencepost.stats()["topics"]

@pytest.mark.fencepost(clock="manual")
@pytest.mark.parametrize("days", [1, 2])
def test_a_clock_of_each_ones_own(fencepost, days):
    before = fencepost.clock.now_ms()
    assert before < time.time() * 1000 + 1000
    fencepost.clock.advance(days=days)
    assert fencepost.clock.now_ms() == before + days * 86_400_000

@pytest.mark.fencepost(scenario="aborted-records-only")
def test_a_scenario_has_happened(fencepost):
    assert fencepost.explain_partition("orders", 0).high_watermark == 6

@pytest.mark.fencepost(scenario="leader-epoch-fenced")
def test_a_scenario_has_happened_in_a_cluster(fencepost_cluster):
    assert sorted(fencepost_cluster.brokers) == [1, 2]
    assert fencepost_cluster.brokers[2].explain_partition("orders", 0).high_watermark == 1

@pytest.mark.fencepost(scenario="leader-epoch-fenced")
def test_a_broker_is_no_cluster(fencepost):
    pass

@pytest.mark.fencepost({"orders": 3})
def test_options_have_names(fencepost):
    pass

@pytest.mark.fencepost(scenario="aborted-records")
def test_there_is_such_a_scenario(fencepost):
    pass
"""


SESSION = """
import asyncio
import pytest
from fencepost_client import Producer as AsyncProducer
from fencepost_client.blocking import Producer

PORTS = []

@pytest.mark.parametrize("turn", range(5))
@pytest.mark.fencepost(topics=["orders:3:retention.ms=5000"])
def test_each_test_begins_with_an_empty_broker_at_the_same_port(fencepost_session, turn):
    broker = fencepost_session
    topics = broker.stats()["topics"]
    assert {name: each["log_bytes"] for name, each in topics.items()} == {"orders": 0}
    with Producer(broker.bootstrap) as producer:
        producer.send("orders", b"x").result()
    broker.create_topic("left")
    broker.faults.hold(api="EndTxn", name="left", may_stay_unfired=True)
    PORTS.append(broker.bootstrap)
    assert len(set(PORTS)) == 1

def test_without_a_mark(fencepost_session):
    assert not fencepost_session.stats()["topics"]
    assert fencepost_session.bootstrap in PORTS
    assert not fencepost_session.faults.list()

@pytest.mark.fencepost(topics={"orders": 1})
@pytest.mark.asyncio
async def test_in_a_loop(fencepost_session):
    async with AsyncProducer(fencepost_session.bootstrap) as producer:
        await (await producer.send("orders", b"x"))
    PORTS.append(fencepost_session.bootstrap)
    assert len(set(PORTS)) == 1

@pytest.mark.fencepost(clock="manual", settings={"num.partitions": 7})
@pytest.mark.parametrize("turn", range(2))
def test_other_options_are_another_broker(fencepost_session, turn):
    assert fencepost_session.bootstrap not in PORTS
    assert fencepost_session.settings.num_partitions == 7
    fencepost_session.clock.advance(days=1)

def test_one_that_stops_it(fencepost_session):
    fencepost_session.stop()

def test_another_one_is_started(fencepost_session):
    assert not fencepost_session.stats()["topics"]
"""
CLUSTER = """
import pytest
from fencepost_client.blocking import Consumer, Producer

@pytest.mark.fencepost(brokers=2, topics={"t": 2})
def test_a_broker_is_killed(fencepost_cluster):
    with Producer(fencepost_cluster.bootstrap) as producer:
        producer.send("t", b"one").result()
        fencepost_cluster.kill(1)
        assert list(fencepost_cluster.brokers) == [2]
        producer.send("t", b"two").result()
    fencepost_cluster.start_broker(1)
    assert list(fencepost_cluster.brokers) == [1, 2]
"""
FAILING = '''
import pytest
from fencepost_client import TopicPartition
from fencepost_client.blocking import Consumer, Producer

CLIENTS = []

def fail(broker):
    """As a client that has crashed: nothing is closed."""
    broker.faults.delay(0, api="Produce", name="late")
    producer = Producer(broker.bootstrap, transactional_id="pay")
    consumer = Consumer(broker.bootstrap, group_id="readers", client_id="reader")
    CLIENTS.extend([producer.__enter__(), consumer.__enter__()])
    producer.begin()
    producer.send("orders", b"x").result()
    consumer.subscribe(["orders"])
    while not consumer.assignment():
        consumer.getmany(timeout_ms=100)
    assert False, "on purpose"

@pytest.mark.fencepost(topics={"orders": 1})
def test_alone(fencepost):
    fail(fencepost)

@pytest.mark.fencepost(topics={"orders": 1})
def test_session(fencepost_session):
    fail(fencepost_session)

@pytest.mark.fencepost(topics={"orders": 1}, brokers=1)
def test_cluster(fencepost_cluster):
    fail(fencepost_cluster)

def test_a_broker_that_has_stopped(fencepost):
    fencepost.stop()
    assert False

def test_one_that_passes(fencepost):
    pass
'''

UNFIRED = """
import pytest

def use(broker, name):
    broker.faults.drop_answer(api="Produce", name=name)

def test_alone(fencepost):
    use(fencepost, "lonely")

def test_removed(fencepost):
    use(fencepost, "gone")
    fencepost.faults.clear()

def test_session(fencepost_session):
    use(fencepost_session, "shared")

def test_the_next_one_of_the_session(fencepost_session):
    pass

@pytest.mark.fencepost(brokers=2)
def test_cluster(fencepost_cluster):
    use(fencepost_cluster.brokers[2], "second")

def test_it_may(fencepost):
    fencepost.faults.drop_answer(api="Produce", may_stay_unfired=True)

@pytest.mark.fencepost(topics={"t": 1})
def test_fired(fencepost):
    from fencepost_client.blocking import Producer
    fault = fencepost.faults.delay(1, api="Produce", name="fired")
    with Producer(fencepost.bootstrap) as producer:
        producer.send("t", b"x").result()
    fencepost.faults.clear()

def test_a_failure_of_its_own(fencepost):
    use(fencepost, "hidden")
    assert False, "on purpose"

@pytest.mark.xfail
def test_one_that_is_expected_to_fail(fencepost):
    use(fencepost, "expected")
    assert False

def test_stopped(fencepost):
    fencepost.stop()
"""


@pytest.fixture
def run(tmp_path: Path, pytestconfig: pytest.Config) -> Callable[..., str]:
    """Runs tests in a folder of their own; returns what pytest prints."""
    # From a checkout that is not installed the entry point is not there.
    named = [] if pytestconfig.pluginmanager.has_plugin("fencepost") else ["-p", PLUGIN]
    command = [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "no:cacheprovider"]

    def run(tests: str, *options: str) -> str:
        (tmp_path / "test_it.py").write_text(tests)
        ran = subprocess.run(
            [*command, *named, *options, "test_it.py"], cwd=tmp_path, capture_output=True, text=True
        )
        return ran.stdout + ran.stderr

    return run


def test_the_fixture_in_tests_of_ones_own(run: Callable[..., str]) -> None:
    printed = run(TESTS)
    assert "8 passed, 3 errors" in printed, printed
    assert "leader-epoch-fenced needs the fixture fencepost_cluster, not fencepost" in printed
    assert "there is no scenario 'aborted-records'; there are late-end-txn" in printed
    assert 'options of @pytest.mark.fencepost need names, as topics={"orders": 3}' in printed


@pytest.mark.parametrize("options", [(), ("-n", "2", "--dist", "loadfile")])
def test_a_broker_for_the_whole_run(run: Callable[..., str], options: tuple[str, ...]) -> None:
    printed = run(SESSION, *options)
    assert "11 passed" in printed, printed


def test_a_cluster(run: Callable[..., str]) -> None:
    printed = run(CLUSTER)
    assert "1 passed" in printed, printed


def test_the_report_of_a_failure_describes_the_broker(run: Callable[..., str]) -> None:
    printed = run(FAILING)
    assert "4 failed, 1 passed" in printed, printed
    for which in ("fencepost", "fencepost broker 1"):
        assert f" {which} ---" in printed, printed
    assert printed.count("open transactions: 1\n  pay: Ongoing") == 3, printed
    assert printed.count("orders-0: they read up to 0 of 1, because of pay (Ongoing)") == 3
    assert printed.count("readers: Stable, 1 members\n    reader at 127.0.0.1") == 3, printed
    assert printed.count("JoinGroup version 9 of reader: MEMBER_ID_REQUIRED") == 3, printed
    assert printed.count("Produce version 13 of fencepost-producer: answered") == 3, printed
    assert printed.count('fault rules: 1\n  late: delay {"api": "Produce"} fired 1 times') == 3
    assert "the broker has stopped" in printed


def test_rules_that_never_fired_fail_a_test_that_has_passed(run: Callable[..., str]) -> None:
    printed = run(UNFIRED)
    assert "5 failed, 4 passed, 1 xfailed" in printed, printed
    for name in ("lonely", "gone", "shared", "second"):
        assert printed.count(f"fault rules that never fired: {name}\n") >= 1, printed
    for name in ("hidden", "expected", "fired,"):
        assert f"never fired: {name}" not in printed, printed


def test_a_first_test_does_not_import_what_other_requests_need() -> None:
    program = (
        "import sys\nfrom fencepost_broker.blocking import Broker\n"
        "with Broker(topics={'t': 3}) as broker: broker.remember_requests()\n"
        "print(*sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    later = ("delete_records", "describe_log_dirs", "list_transactions", "end_txn")
    loaded = set(run.stdout.split())
    assert "fencepost_protocol.generated.create_topics" in loaded
    assert not loaded & {f"fencepost_protocol.generated.{each}" for each in later}

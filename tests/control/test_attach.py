"""`attach`: the faults, clock, ... of a broker in another process, as they are in this one."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fencepost_broker import ControlError, attach, blocking
from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.faults.rule import DropAnswer, Match, Rule
from fencepost_broker.operations import FenceProducer, OperationRefusedError
from fencepost_broker.server.attached import AttachedBroker, BlockingAttachedBroker
from fencepost_broker.server.faults import BlockingFault, Fault, FaultNotFiredError
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.support.up import ClosedError, Wire

TOKEN = "0123456789abcdef"
DAY_MS = 24 * 3600 * 1000


@pytest.fixture
def broker() -> Iterator[blocking.Broker]:
    with blocking.Broker(topics={"t": 1}, control=0, log_level="error") as running:
        yield running


@pytest.fixture
def attached(broker: blocking.Broker) -> BlockingAttachedBroker:
    assert broker.control is not None
    return blocking.attach(broker.control)


def wire(broker: blocking.Broker) -> Wire:
    return Wire(int(broker.bootstrap.rpartition(":")[2]))


def ask(broker: blocking.Broker) -> bool:
    """Ask for metadata; return whether there was an answer."""
    with wire(broker) as client:
        try:
            client.ask(MetadataRequest([]), 12)
        except ClosedError:
            return False
    return True


def test_a_fault_is_the_same_object(
    broker: blocking.Broker, attached: BlockingAttachedBroker
) -> None:
    lost = attached.faults.drop_answer(api="Metadata", times=1, name="lost")
    assert isinstance(lost, BlockingFault)
    assert lost.rule == Rule(
        act=DropAnswer(), match=Match(api="Metadata"), times=1, name="lost"
    ) == broker.faults["lost"].rule  # fmt: skip
    assert attached.unfired_faults() == ["lost"]
    assert not ask(broker)
    lost.wait_until_fired()
    assert (lost.fired, lost.held, lost.refused) == (1, 0, "")
    [request] = lost.requests
    assert (request.api, request.request["topics"]) == ("Metadata", [])
    assert [each.fired for each in attached.faults.list()] == [1]
    assert attached.unfired_faults() == []
    assert attached.faults["lost"].fired == 1
    assert repr(lost) == repr(broker.faults["lost"])
    lost.remove()
    lost.remove()
    assert attached.faults.list() == broker.faults.list() == []
    with pytest.raises(KeyError, match="lost"):
        attached.faults["lost"]


def test_what_is_held_goes_on(broker: blocking.Broker, attached: BlockingAttachedBroker) -> None:
    held = attached.faults.hold(api="Metadata")
    answers: list[bool] = []
    asking = threading.Thread(target=lambda: answers.append(ask(broker)))
    asking.start()
    held.wait_until_fired()
    assert held.held == 1
    assert held.release() == 1
    asking.join(30)
    assert answers == [True]
    attached.faults.clear()
    assert broker.faults.list() == []


def test_a_rule_that_cannot_work_is_refused_as_in_process(
    broker: blocking.Broker, attached: BlockingAttachedBroker
) -> None:
    with pytest.raises(RuleError) as there:
        attached.faults.drop_answer(api="Metadatta")
    with pytest.raises(RuleError) as here:
        broker.faults.drop_answer(api="Metadatta")
    assert str(here.value) in str(there.value)


def test_a_fault_that_does_not_fire(attached: BlockingAttachedBroker) -> None:
    never = attached.faults.delay(1, api="EndTxn", name="never")
    with pytest.raises(FaultNotFiredError, match="fired 0 of 2 times in"):
        never.wait_until_fired(times=2, timeout_s=0.01)


def test_a_wait_ends_with_the_broker(
    broker: blocking.Broker, attached: BlockingAttachedBroker
) -> None:
    never = attached.faults.delay(1, api="EndTxn")
    errors: list[Exception] = []

    def wait() -> None:
        try:
            never.wait_until_fired(timeout_s=3600)
        except ControlError as error:
            errors.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    broker.stop()
    waiting.join(60)
    assert "cannot be reached" in str(errors[0])


def test_the_clock(broker: blocking.Broker, attached: BlockingAttachedBroker) -> None:
    attached.clock.pause()
    stands = [attached.clock.is_manual]
    before = attached.clock.now_ms()
    assert before == broker.clock.now_ms()
    attached.clock.advance(days=8, ms=3)
    attached.clock.jump(seconds=-5)
    assert broker.clock.now_ms() == before + 8 * DAY_MS + 3 - 5000
    attached.clock.resume()
    stands.append(attached.clock.is_manual)
    assert stands == [True, False]
    with pytest.raises(ControlError, match="must be above 0"):
        attached.clock.advance(days=-1)


def test_topics_transactions_and_operations(
    broker: blocking.Broker, attached: BlockingAttachedBroker
) -> None:
    attached.create_topic("u", 2, {"retention.ms": 5, "preallocate": True})
    attached.create_topic("u", 2)
    told = attached.explain_partition("u", 1)
    assert told == broker.explain_partition("u", 1)
    assert attached.explain_partition("u", 2) is None
    assert attached.explain_transaction("p") is None
    with wire(broker) as client:
        client.ask(FindCoordinatorRequest("p", 1), 3)
        client.ask(InitProducerIdRequest("p", 60_000), 4)
    transaction = attached.explain_transaction("p")
    assert transaction is not None
    assert transaction.state == "Empty"
    fenced = attached.perform(FenceProducer(transactional_id="p"))
    assert fenced.producer_epoch == 1
    with pytest.raises(OperationRefusedError, match="'q'"):
        attached.perform(FenceProducer(transactional_id="q"))
    hold = attached.hold_markers(topic="u")
    hold.release()
    with pytest.raises(OperationRefusedError):
        hold.release()


def test_requests_and_where_it_is(
    broker: blocking.Broker, attached: BlockingAttachedBroker
) -> None:
    assert attached.requests() == []
    assert ask(broker)
    assert [each.api for each in attached.requests(last=1)] == ["Metadata"]
    assert attached.bootstrap == broker.bootstrap
    assert attached.stats()["topics"]["t"]["partitions"] == 1
    with pytest.raises(ControlError, match="up --brokers N"):
        attached.kill(1)
    assert attached.broker(1).faults.list() == []
    with pytest.raises(ControlError, match="no broker 2") as error:
        attached.broker(2).faults.list()
    assert error.value.status == 404


@pytest.mark.asyncio
async def test_it_goes_back(broker: blocking.Broker, attached: BlockingAttachedBroker) -> None:
    attached.create_topic("first")
    attached.snapshot("one topic")
    attached.create_topic("second")
    attached.restore("one topic")
    assert broker.explain_partition("first", 0) is not None
    assert broker.explain_partition("second", 0) is None
    attached.faults.delay(0, api="Fetch")
    attached.reset()
    assert broker.explain_partition("first", 0) is None
    assert attached.faults.list() == []
    within = attach(broker.control or "")
    await within.restore("one topic")
    assert broker.explain_partition("first", 0) is not None
    await within.reset()
    assert broker.explain_partition("first", 0) is None


@pytest.mark.asyncio
async def test_with_an_event_loop(broker: blocking.Broker) -> None:
    assert broker.control is not None
    attached = attach(broker.control)
    assert isinstance(attached, AttachedBroker)
    late = attached.faults.delay(0, api="Metadata")
    assert isinstance(late, Fault)
    with pytest.raises(FaultNotFiredError):
        await late.wait_until_fired(timeout_s=0.01)
    assert ask(broker)
    await late.wait_until_fired()
    with pytest.raises(OperationRefusedError):
        await attached.perform(FenceProducer(transactional_id="q"))
    assert attached.broker(1).faults.list()[0].fired == 1


@pytest.mark.asyncio
async def test_a_wait_in_an_event_loop_ends_with_the_broker(broker: blocking.Broker) -> None:
    assert broker.control is not None
    never = attach(broker.control).faults.delay(0, api="EndTxn")
    waiting = asyncio.ensure_future(never.wait_until_fired(timeout_s=3600))
    await asyncio.to_thread(broker.stop)
    with pytest.raises(ControlError, match="cannot be reached"):
        await waiting


def test_a_token_is_needed_and_taken(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    with blocking.Broker(control=0, control_token_file=file, log_level="error") as broker:
        assert broker.control is not None
        for token in (None, "wrong"):
            with pytest.raises(ControlError, match="token") as error:
                blocking.attach(broker.control, token=token)
            assert error.value.status == 401
        assert blocking.attach(broker.control, token=TOKEN).broker(1).faults.list() == []


def test_nobody_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ControlError, match=f"127.0.0.1:{port} cannot be reached") as error:
        attach(port)
    assert error.value.status is None
    with pytest.raises(ValueError, match="neither PORT nor HOST:PORT"):
        attach("nowhere")

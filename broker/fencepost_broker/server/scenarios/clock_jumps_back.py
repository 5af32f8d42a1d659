"""The clock of a broker is set back while a transaction is open."""

from __future__ import annotations

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import Connection, TransactionalProducer


async def _run(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        producer = TransactionalProducer(connection)
        await producer.start()
        await producer.send(b"first")
        tell("A producer with a timeout of one minute sends a record in a transaction, and dies.")
        broker.clock.jump(hours=-2)
        await connection.produce(b"second")
        tell("The broker's clock is set back by two hours, and another producer sends a record.")
        broker.clock.advance(hours=1)
        late = await connection.transaction_state()
        blocked = await connection.end_offset(committed=True)
        tell(
            f"An hour later, the transaction is {late}, and readers get no further than {blocked}."
        )
        broker.clock.advance(hours=1, minutes=2)
        await producer.until_complete()
        state = await connection.transaction_state()
        tell(f"It times out when the clock shows the time of before plus a minute: {state}.")
        return {
            "state_after_an_hour": late,
            "last_stable_offset_after_an_hour": blocked,
            "state": state,
            **await connection.offsets(),
        }


SCENARIO = Scenario(
    name="clock-jumps-back",
    summary="A broker's clock is set back, and a dead producer's transaction does not time out",
    seen="Readers of committed records stand still for as long as the clock was set back.",
    clients="Consumers with isolation.level=read_committed, in any language.",
    remedy="Let the clock drift to the right time (NTP slews) instead of setting it; abort the"
    " transaction, or start a producer with its transactional id.",
    run=_run,
)

"""A password is changed while a client is connected, and the client's login expires."""

from __future__ import annotations

import asyncio
from typing import Final

from fencepost_client import Admin, ScramMechanism, SetPassword

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import Connection

USER: Final = "app"
PASSWORD: Final = "spring"  # noqa: S105 (of a scenario)
NEXT_PASSWORD: Final = "summer"  # noqa: S105
ADMIN: Final = ("admin", "admin-secret")
MECHANISM: Final = "SCRAM-SHA-256"
SESSION_MS: Final = 500
_WAIT_S: Final = 30.0


async def change_password(broker: AnyBroker, password: str = NEXT_PASSWORD) -> None:
    """Change the user's password."""
    async with Admin(
        broker.bootstrap,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism=MECHANISM,
        sasl_plain_username=ADMIN[0],
        sasl_plain_password=ADMIN[1],
    ) as admin:
        await admin.alter_user_scram_credentials(
            {USER: SetPassword(ScramMechanism.SCRAM_SHA_256, password)}
        )


async def _run(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        await connection.log_in(MECHANISM, USER, PASSWORD)
        await connection.produce(b"before")
        tell("A producer logs in and sends a record; then an administrator changes its password.")
        await change_password(broker)
        connected = await connection.produce(b"connected")
        tell(f"It sends another record on its connection: {connected}.")
        refused = await _log_in(broker, PASSWORD)
        tell(f"It has to connect a second time, as to another broker: {refused}.")
        await _until_closed(connection)
        tell(f"Its login expires after {SESSION_MS} ms, and the broker closes the connection.")
    renewed = await _log_in(broker, NEXT_PASSWORD)
    tell(f"It is started again with the new password: {renewed}.")
    return {"connected_client": connected, "old_password": refused, "new_password": renewed}


async def _log_in(broker: AnyBroker, password: str) -> str:
    async with Connection(broker) as connection:
        return await connection.log_in(MECHANISM, USER, password)


async def _until_closed(connection: Connection) -> None:
    async with asyncio.timeout(_WAIT_S):
        try:
            while True:
                await connection.end_offset()
        except EOFError:
            return


SCENARIO: Final = Scenario(
    name="password-changed",
    summary="A password is changed while a client is connected, and its login expires",
    seen="Nothing at first. Then SASL_AUTHENTICATION_FAILED, as soon as the client connects again"
    " or its login expires (connections.max.reauth.ms).",
    clients="All that log in with SASL. Those that cannot renew a login (aiokafka, KafkaJS before"
    " 2.0) lose each connection when it expires, with the right password, too.",
    remedy="Give the client the new password before the old one ends: two users in turn,"
    " or tokens.",
    kip="KIP-368",
    users={USER: PASSWORD, ADMIN[0]: ADMIN[1]},
    settings={"connections.max.reauth.ms": SESSION_MS},
    own_broker="it has to know the password of an administrator",
    run=_run,
)

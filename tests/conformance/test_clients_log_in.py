"""Unmodified clients log in, over TLS and without, and say so when the password is wrong."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from tests.conformance.clients.clients import CLIENTS, ClientUnavailableError
from tests.support.apache_kafka import KafkaFailedError, fetch, run_tool
from tests.support.secure_kafka import PASSWORD, USER, SecureFencepost, make_certificates

pytestmark = [pytest.mark.conformance, pytest.mark.slow, pytest.mark.asyncio]

WAYS: Final = (("SASL_SSL", "SCRAM-SHA-512"), ("SASL_PLAINTEXT", "PLAIN"))
WRONG: Final = ("SASL_PLAINTEXT", "SCRAM-SHA-256")
SECONDS_MAX: Final = 120.0
SAYS_NOTHING_OF_IT: Final = {"kafka-python": "UNABLE TO BOOTSTRAP"}
"""Who takes a wrong password for a broker that is not there, Apache Kafka's as well."""
JAVA: Final = {"PLAIN": "plain.Plain", "SCRAM": "scram.Scram"}
ROOT: Final = Path(__file__).parents[2]


class ScriptFailedError(Exception):
    """What a script said at its end."""


async def by_script(command: list[str], words: list[str]) -> None:
    process = await asyncio.create_subprocess_exec(
        *command, *words, cwd=ROOT, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(SECONDS_MAX):
            _, said = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise ScriptFailedError(said.decode(errors="replace")[-2000:].upper())


def python(name: str) -> Callable[[], list[str]]:
    def prepare() -> list[str]:
        interpreter, *_ = CLIENTS["kafka-python"].prepare()
        return [interpreter, "-m", f"tests.conformance.clients.python.{name}_login"]

    return prepare


def kafkajs() -> list[str]:
    node, script = CLIENTS["kafkajs"].prepare()
    return [node, os.fspath(Path(script).with_name("login.mjs"))]


SCRIPTS: Final[dict[str, Callable[[], list[str]]]] = {
    "confluent-kafka": python("confluent"),
    "kafka-python": python("kafka_python"),
    "aiokafka": python("aiokafka"),
    "kafkajs": kafkajs,
    "franz-go": lambda: [*CLIENTS["franz-go"].prepare(), "login"],
}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder)
    return folder


@pytest_asyncio.fixture
async def secured(certificates: Path) -> AsyncIterator[SecureFencepost]:
    async with SecureFencepost(certificates) as broker:
        yield broker


def of_one_loop(request: pytest.FixtureRequest) -> None:
    """Clients see no difference between loops, and each starts a process."""
    if "asyncio-" in request.node.name or request.node.name.endswith("[asyncio]"):
        pytest.skip("on uvloop alone")


@pytest.mark.parametrize("client", SCRIPTS)
async def test_a_client_logs_in(
    client: str, secured: SecureFencepost, request: pytest.FixtureRequest
) -> None:
    if sys.platform != "win32":
        of_one_loop(request)
    try:
        command = await asyncio.to_thread(SCRIPTS[client])
    except ClientUnavailableError as error:
        pytest.skip(str(error))
    authority = str(secured.certificates / "ca.pem")

    async def log_in(protocol: str, mechanism: str, password: str) -> None:
        topic = f"{client}-{protocol}"
        words = [secured.at(protocol), protocol, mechanism, USER, password, authority, topic]
        await by_script(command, words)

    await asyncio.gather(*(log_in(*way, PASSWORD) for way in WAYS))
    with pytest.raises(ScriptFailedError, match=SAYS_NOTHING_OF_IT.get(client, "AUTHENTICATION")):
        await log_in(*WRONG, "not-the-password")


async def test_javas_client_logs_in(
    secured: SecureFencepost, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if sys.platform != "win32":
        of_one_loop(request)
    await asyncio.to_thread(fetch)

    def properties(protocol: str, mechanism: str, password: str) -> str:
        module = JAVA[mechanism.partition("-")[0]]
        file = tmp_path / f"{protocol}-{mechanism}.properties"
        file.write_text(
            f"security.protocol={protocol}\nsasl.mechanism={mechanism}\n"
            f"sasl.jaas.config=org.apache.kafka.common.security.{module}LoginModule required"
            f' username="{USER}" password="{password}";\n'
            "ssl.truststore.type=PEM\n"
            f"ssl.truststore.location={secured.certificates / 'ca.pem'}\n"
        )
        return str(file)

    def log_in(protocol: str, mechanism: str, password: str) -> None:
        config = properties(protocol, mechanism, password)
        at = ["--bootstrap-server", secured.at(protocol), "--topic", f"java-{protocol}"]
        tools = "org.apache.kafka.tools"
        run_tool(f"{tools}.ConsoleProducer", *at, "--command-config", config, given="secret\n")
        read = ["--from-beginning", "--max-messages", "1", "--command-config", config]
        assert "secret" in run_tool(f"{tools}.consumer.ConsoleConsumer", *at, *read)

    await asyncio.gather(*(asyncio.to_thread(log_in, *way, PASSWORD) for way in WAYS))
    config = properties(*WRONG, "not-the-password")
    with pytest.raises(KafkaFailedError, match="AuthenticationException"):
        await asyncio.to_thread(
            run_tool, "org.apache.kafka.tools.TopicCommand", "--list",
            "--bootstrap-server", secured.at(WRONG[0]), "--command-config", config,
        )  # fmt: skip

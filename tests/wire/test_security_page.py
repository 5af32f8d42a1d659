"""docs/security.md: its certificate, broker and client properties, as they stand there."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path

import pytest
from fencepost_broker import Broker

from tests.wire.page_harness import ROOT, Machine

pytestmark = pytest.mark.slow
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```\w*\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def block(beginning: str) -> str:
    """What stands on the page in the first block that begins so."""
    found = next(each for each in BLOCKS if each.startswith(beginning))
    return re.sub(r"\\\n\s*", "", found).strip()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Where somebody has made the certificate."""
    if shutil.which("openssl") is None:
        pytest.skip("the page makes a certificate with openssl, which is not on the PATH")
    made = Machine(tmp_path)
    made.run(block("openssl req"))
    return made


def test_a_client_logs_in_over_tls(machine: Machine, tmp_path: Path) -> None:
    plain, over_tls = block("fencepost up").splitlines()
    properties = block("security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-256\nsasl.jaas")
    # Of the file of authorities the page says that `fencepost` calls it otherwise.
    properties = re.sub(
        r"ssl\.truststore\.type=PEM\nssl\.truststore\.location=ca\.pem",
        "ssl.ca.location=broker.pem",
        properties,
    )
    without_tls = properties.replace("SASL_SSL", "SASL_PLAINTEXT").rpartition("\n")[0]
    for command, said in ((over_tls, properties), (plain, without_tls)):
        (tmp_path / "client.properties").write_text(said)
        with machine.terminal(f"{command} --port 0") as line:
            bootstrap = line.removeprefix("ready at ").split()[0]
            topics = f"fencepost topics -b {bootstrap} -F client.properties"
            machine.run(f"{topics} create orders")
            assert "orders" in machine.run(f"{topics} list")


def test_the_same_in_python(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del machine  # has made the certificate
    monkeypatch.chdir(tmp_path)
    (made,) = re.findall(r"`(Broker\(users=.*?\))`", PAGE)

    async def listeners() -> list[str]:
        async with eval(made, {"Broker": Broker}) as broker:
            return [each.partition("://")[0] for each in broker.settings.listeners]

    assert asyncio.run(listeners()) == ["SASL_SSL"]

"""`fencepost proxy`: a process, TLS to both sides, and what it says of wrong options."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_client import Admin

from tests.support.secure_kafka import make_certificates
from tests.support.up import Up
from tests.wire.proxy_harness import PROXY_COMMAND

TLS = "--tls-cert {0}/broker.pem --tls-key {0}/broker.key --upstream-tls --upstream-ca {0}/ca.pem"


@pytest.mark.slow
@pytest.mark.asyncio
async def test_tls_ends_at_the_proxy_and_begins_again(tmp_path: Path) -> None:
    make_certificates(tmp_path)
    pair = {"tls_cert": tmp_path / "broker.pem", "tls_key": tmp_path / "broker.key"}
    async with Broker(**pair) as broker:  # type: ignore[arg-type]
        words = TLS.format(tmp_path).split()
        with Up("--upstream", broker.bootstrap, *words, command=PROXY_COMMAND) as proxy:
            async with Admin(
                proxy.told["bootstrap"], security_protocol="SSL",
                ssl_ca_location=str(tmp_path / "ca.pem"),
            ) as admin:  # fmt: skip
                [node] = (await admin.describe_cluster()).brokers
            assert f"{node.host}:{node.port}" == proxy.told["bootstrap"]
            assert proxy.stop() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--upstream nowhere:99999", "it must be HOST:PORT, with a port of 1 to 65535"),
        ("--upstream a:1 --upstream-ca ca.pem", "--upstream-ca needs --upstream-tls"),
        ("--upstream a:1 --tls-cert c.pem", "--tls-cert and --tls-key go together"),
        ("--upstream a:1 --faults plan.toml", "late: while: a proxy does not know the states"),
        ("--upstream a:1 --faults gone.toml", "gone.toml: No such file or directory"),
    ],
)
def test_wrong_options_are_told(words: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(
        '[[fault]]\nname = "late"\nact = {type = "hold"}\nwhile = "group=Stable"\n'
    )
    done = subprocess.run(
        [*PROXY_COMMAND, *words.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("fencepost proxy: ")
    assert told in done.stderr

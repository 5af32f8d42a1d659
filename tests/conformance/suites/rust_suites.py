"""Suites in Rust: crates, whose checksums Cargo compares."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.conformance.clients.clients import build, tool
from tests.conformance.suites.outcomes import Outcomes, of_rust
from tests.conformance.suites.places import Place
from tests.conformance.suites.running import TARGET, Run, Suite

_PACKAGE: Final = """\
[package]
name = "fetches"
edition = "2021"

[lib]
path = "lib.rs"

[dependencies]
{crate} = "={version}"
"""
_BUILT: Final = "built"
_TESTS: Final = ("test", "--test", "*")


def crate_tests(crate: str, version: str, newer: Mapping[str, str]) -> Callable[[], Path]:
    """Fetches a crate and builds its tests.

    `newer` has the versions of dependencies whose locked version today's Rust does not compile.
    """

    def prepare() -> Path:
        folder = TARGET / f"{crate}-{version}"
        if not (folder / _BUILT).exists():
            cargo = tool("cargo", "Cargo of Rust")
            fetches = TARGET / f"fetches-{crate}"
            fetches.mkdir(parents=True, exist_ok=True)
            (fetches / "lib.rs").touch()
            text = _PACKAGE.format(crate=crate, version=version)
            (fetches / "Cargo.toml").write_text(text, encoding="utf-8")
            told = json.loads(
                build(fetches, [cargo, "metadata", "--quiet", "--format-version", "1"])
            )
            (manifest,) = (e["manifest_path"] for e in told["packages"] if e["name"] == crate)
            shutil.copytree(Path(manifest).parent, folder, dirs_exist_ok=True)
            # Its authors' version of Rust; the one that is here will do.
            (folder / "rust-toolchain.toml").unlink(missing_ok=True)
            for name, wanted in newer.items():
                build(folder, [cargo, "update", "-p", name, "--precise", wanted])
            build(folder, [cargo, *_TESTS, "--no-run"])
            (folder / _BUILT).touch()
        return folder

    return prepare


def _run(run: Run, environment: Mapping[str, str], *left_out: str) -> Outcomes:
    command = [tool("cargo", "Cargo of Rust"), *_TESTS, "--offline", "--no-fail-fast", "--"]
    command += [run.only] if run.only else []
    command += [word for name in left_out for word in ("--skip", name)]
    return of_rust(run.execute(command, environment))


def _rskafka(place: Place, run: Run) -> Outcomes:
    environment = {
        "TEST_INTEGRATION": "1",
        "TEST_BROKER_IMPL": "kafka",
        "KAFKA_CONNECT": place.bootstrap,
    }
    # These return at once, and count as passed, where what they need is not there.
    left_out = ["java", "socks5", "test_produce_rdkafka_consume_rdkafka_nocompression"]
    if place.login:
        environment["KAFKA_SASL_CONNECT"] = place.login
    else:
        left_out.append("test_sasl")
    return _run(run, environment, *left_out)


def _rdkafka(place: Place, run: Run) -> Outcomes:
    environment = {"KAFKA_HOST": place.bootstrap, "KAFKA_VERSION": "4.3.1", "RUST_LOG": "off"}
    return _run(run, environment)


SUITES: Final = (
    Suite(
        "rskafka",
        "0.6.0",
        crate_tests("rskafka", "0.6.0", {"rsasl": "2.3.1"}),
        _rskafka,
        300,
        # As in its own CI.
        settings={
            "auto.create.topics.enable": "false",
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
                "org.apache.kafka.common.security.plain.PlainLoginModule required"
                ' user_admin="admin-secret";'
            ),
        },
        left_out="tests without a broker, with a JVM in their process, and with a SOCKS5 proxy",
    ),
    Suite(
        "rust-rdkafka",
        "0.39.0",
        crate_tests("rdkafka", "0.39.0", {}),
        _rdkafka,
        600,
        # As in its own CI.
        settings={"node.id": "0", "num.partitions": "3"},
        left_out="tests without a broker",
    ),
)

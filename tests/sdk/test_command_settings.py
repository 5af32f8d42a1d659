"""How commands get in: ``-X`` and ``--command-config``, and an Apache Kafka that asks who it is."""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any, Final

import pytest
from fencepost_broker import Broker
from fencepost_broker.cli.main import main
from fencepost_client.commands import produce, produce_action, topics
from fencepost_client.commands.bootstrap import client_config
from fencepost_client.commands.errors import UsageError
from fencepost_client.config.kafka_names import ADMIN_NAMES, PRODUCER_NAMES

from tests.support.secure_kafka import KEY_PASSWORD, PASSWORD, USER, SecureKafka

COMMANDS: Final = "commands get in by the SDK, which test_security shows with both"
JAAS: Final = (
    "org.apache.kafka.common.security.scram.ScramLoginModule required"
    f' username="{USER}" password="{PASSWORD}";'
)
TIMEOUTS: Final = ("default.api.timeout.ms", "request.timeout.ms")


class Shell:
    """Runs commands here, which is quicker than a process each."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, *words: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        code = main([*words])
        return code, *self._capsys.readouterr()

    def __call__(self, *words: str) -> str:
        code, out, err = self.run(*words)
        assert code == 0, err
        return out

    def json(self, *words: str) -> Any:
        return json.loads(self(*words, "--json"))


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


def ways_in(kafka: SecureKafka, folder: Path) -> dict[str, list[str]]:
    """What each listener wants, by options, by a file, and by both."""
    certificates = kafka.certificates
    file = folder / "client.properties"
    file.write_text(
        "# as Kafka's own tools read it\n"
        f"bootstrap.servers={kafka.at('SASL_SSL')}\n"
        f"security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config={JAAS}\n"
        f"ssl.ca.location={certificates / 'ca.pem'}\n"
        "linger.ms=5\nauto.offset.reset=latest\n"
    )
    half = folder / "tls.properties"
    half.write_text(f"security.protocol=SSL\nssl.ca.location={certificates / 'ca.pem'}\n")
    own = {
        "ssl.certificate.location": certificates / "client.pem",
        "ssl.key.location": certificates / "client.key",
        "ssl.key.password": KEY_PASSWORD,
    }
    login = {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": JAAS.replace("scram.Scram", "plain.Plain"),
    }  # fmt: skip
    return {
        "file": ["--command-config", str(file)],
        "both": ["--bootstrap", kafka.at("SSL"), "-F", str(half), *options_of(own)],
        "options": ["--bootstrap", kafka.at("SASL_PLAINTEXT"), *options_of(login)],
    }


def options_of(settings: dict[str, Any]) -> list[str]:
    return [word for name, value in settings.items() for word in ("-X", f"{name}={value}")]


@pytest.mark.kafka_alone(COMMANDS)
@pytest.mark.slow
@pytest.mark.conformance
@pytest.mark.parametrize("way", ["file", "both", "options"])
def test_every_command_gets_in(
    secure_kafka: SecureKafka, tmp_path: Path, way: str, shell: Shell
) -> None:
    get_in = ways_in(secure_kafka, tmp_path)[way]
    topic = f"by-{way}"
    shell("topics", *get_in, "create", topic, "--partitions", "1", "--config", "retention.ms=60000")
    lines = tmp_path / "lines"
    lines.write_text("one\ntwo\n")
    shell("produce", *get_in, "-t", topic, "--transactional-id", topic, "--file", str(lines))
    read = ("-t", topic, "-e", "-o", "beginning", "--isolation", "read_committed")
    assert shell("consume", *get_in, *read) == "one\ntwo\n"
    shell("consume", *get_in, "-t", topic, "-g", topic, "-o", "beginning", "-c", "2")
    [group] = shell.json("groups", "describe", topic, *get_in)["offsets"]
    assert (group["committed"], group["end"]) == (2, 3), "with the marker"
    configs = shell.json("configs", *get_in, "describe", "topic", topic)
    assert [each["value"] for each in configs if each["name"] == "retention.ms"] == ["60000"]
    [listed] = shell.json("transactions", *get_in, "list", "--pattern", topic)
    assert listed["state"] == "CompleteCommit"
    [described] = shell.json("transactions", "describe", topic, *get_in)
    assert described["producer_id"] == listed["producer_id"]
    assert shell.json("transactions", "explain", topic, *get_in)["not_told"], "it is no Fencepost"
    place = ("--topic", topic, "--partition", "0")
    [producer] = shell.json("transactions", *get_in, "describe-producers", *place)
    assert producer["producer_id"] == listed["producer_id"]
    assert shell.json("transactions", "find-hanging", *place, *get_in) == []


@pytest.mark.kafka_alone(COMMANDS)
@pytest.mark.slow
@pytest.mark.conformance
def test_who_is_not_let_in_is_told_so_at_once(
    secure_kafka: SecureKafka, tmp_path: Path, shell: Shell
) -> None:
    get_in = ways_in(secure_kafka, tmp_path)["options"]
    wrong = [word.replace(PASSWORD, "no") for word in get_in]
    for words in (
        ["topics", "list"], ["groups", "list"], ["configs", "list"], ["transactions", "list"],
        ["produce", "-t", "t", "--file", "/dev/null"], ["consume", "-t", "t"],
    ):  # fmt: skip
        code, out, err = shell.run(*words, *wrong, "--timeout", "600")
        assert (code, out) == (1, ""), words
        assert "SASL_AUTHENTICATION_FAILED" in err
        plain = ("--bootstrap", secure_kafka.at("SSL"), "--timeout", "600")
        code, _, err = shell.run(*words, *plain)
        assert code == 1
        assert "in plain text" in err


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    topics.add_arguments(parser)
    return parser.parse_args(words)


def test_what_is_nearest_to_the_command_counts(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.servers=f:1\nclient.id=f\nrequest.timeout.ms=7\nlinger.ms=1\n")
    given = ("-F", str(file))
    config = client_config(parse(*given, "list"), ADMIN_NAMES, TIMEOUTS)
    assert config == {
        "bootstrap.servers": "f:1", "client.id": "f",
        "default.api.timeout.ms": 30_000, "request.timeout.ms": "7",
    }  # fmt: skip
    options = parse(
        *given, "-X", "client.id=x", "--timeout", "2", "list", "-X", "retry.backoff.ms=3"
    )
    config = client_config(options, ADMIN_NAMES, TIMEOUTS)
    assert (config["client.id"], config["retry.backoff.ms"]) == ("x", "3")
    assert config["request.timeout.ms"] == 2000
    options = parse("--bootstrap", "b:2", "list", *given)
    assert client_config(options, PRODUCER_NAMES, TIMEOUTS)["linger.ms"] == "1"
    assert options.bootstrap == "b:2"


@pytest.mark.parametrize(
    ("words", "request_ms", "delivery_ms"),
    [
        ((), None, None),
        (("--timeout", "8"), 8000, 8005),
        (("--timeout", "8", "-X", "linger.ms=50"), 8000, 8050),
        (("--timeout", "8", "-X", "request.timeout.ms=9000"), "9000", 9005),
        (("--timeout", "8", "-X", "delivery.timeout.ms=9000"), 8000, "9000"),
        (("--timeout", "8", "-F", "client.properties"), 7, 8005),
        (("--timeout", "8", "-X", "linger.ms=soon"), 8000, 8000),
    ],
)
def test_how_long_produce_tries(
    words: tuple[str, ...],
    request_ms: object,
    delivery_ms: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("client.properties").write_text("request.timeout.ms=7\ndelivery.timeout.ms=700\n")
    parser = argparse.ArgumentParser()
    produce.COMMAND.add_arguments(parser)
    config = produce_action.producer_config(parser.parse_args(["-t", "t", *words]))
    assert config.get("request.timeout.ms") == request_ms
    assert config.get("delivery.timeout.ms") == delivery_ms


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("securty.protocol=SSL\n", "did you mean security.protocol"),
        ("word\n", "line 1: expected name=value"),
        (None, "No such file"),
    ],
)
def test_a_file_that_makes_no_sense(tmp_path: Path, content: str | None, reason: str) -> None:
    file = tmp_path / "client.properties"
    if content is not None:
        file.write_text(content)
    with pytest.raises(UsageError, match=reason):
        client_config(parse("-F", str(file), "list"), ADMIN_NAMES, TIMEOUTS)


@pytest.mark.asyncio
@pytest.mark.ours_alone("what a broker without TLS and SASL says")
async def test_a_fencepost_has_no_security_and_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with Broker() as broker:
        for command in ("topics", "transactions"):
            words = [
                command,
                "list",
                "--bootstrap",
                broker.bootstrap,
                "-X",
                "security.protocol=SSL",
            ]
            assert await asyncio.to_thread(main, words) == 1
            assert "TLS" in capsys.readouterr().err
            words[-1] = "sasl.mechanism=PLAIN"
            assert await asyncio.to_thread(main, words) == 2
            assert "security_protocol is PLAINTEXT" in capsys.readouterr().err

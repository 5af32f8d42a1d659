"""The container image, unpacked and started with its own settings in a sandbox: `make image`.

bubblewrap gives it a file system that it cannot write, a user without rights, and process id 1.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.request import Request, urlopen

import pytest
from fencepost_broker.cli.commands.up import AS_KAFKA_SAYS_IT
from fencepost_client.blocking import Consumer, Producer

from tests.support.testcontainers import TESTCONTAINERS
from tests.support.waiting import polled

pytestmark = pytest.mark.skipif(
    not os.environ.get("FENCEPOST_TEST_IMAGE"), reason="make image has it: it needs buildah"
)

ROOT = Path(__file__).parents[2]
ARCHIVE = ROOT / "dist/fencepost-image.tar"
MEGABYTES_MAX = 80
STARTER: Final = "/tmp/testcontainers_start.sh"
WAITS_FOR_STARTER: Final = f"while [ ! -f {STARTER} ]; do sleep 0.1; done; {STARTER}"
"""Testcontainers' command for Apache Kafka's image."""
HOW_TO: Final = ROOT / "docs/how-to/run-in-a-container.md"
CONTROL_PORT: Final = "9080"


class Image(NamedTuple):
    """An image whose layers are unpacked."""

    root: Path
    config: dict[str, Any]

    def words(self, environment: Mapping[str, str]) -> list[str]:
        """Return the beginning of a command line that runs something in it."""
        words = ["bwrap", "--ro-bind", str(self.root), "/", "--proc", "/proc", "--dev", "/dev"]
        words += ["--unshare-user", "--uid", "1000", "--gid", "1000", "--clearenv"]
        given = dict(each.split("=", 1) for each in self.config["Env"])
        for name, value in {**given, **environment}.items():
            words += ["--setenv", name, value]
        return words

    def run(self, *command: str) -> int:
        """Run a command to its end."""
        return subprocess.run([*self.words({}), *command], check=False, timeout=60).returncode


class Container(NamedTuple):
    """A process in an image, as process 1 of its own."""

    process: subprocess.Popen[bytes]
    log: Path
    process_id: int
    """Of the process in the image, as it is seen from outside."""

    def is_ready(self) -> None:
        """Wait until a broker says that it runs."""

        def said() -> bool:
            assert self.process.poll() is None, self.log.read_text()
            return AS_KAFKA_SAYS_IT in self.log.read_text()

        polled(said, f"not ready: {self.log}")

    def stop(self) -> None:
        """Stop it as `docker stop` does."""
        os.kill(self.process_id, signal.SIGTERM)
        assert self.process.wait(60) == 0, self.log.read_text()


@contextmanager
def running(
    image: Image, folder: Path, environment: Mapping[str, str], *command: str
) -> Iterator[Container]:
    """Run a command in an image, or the image's own."""
    for name in ("tmp", "data"):
        (folder / name).mkdir(exist_ok=True)
        (folder / name).chmod(0o777)
    read, write = os.pipe()
    words = [*image.words(environment), "--bind", str(folder / "tmp"), "/tmp"]
    words += ["--bind", str(folder / "data"), "/var/lib/fencepost"]
    words += ["--unshare-pid", "--as-pid-1", "--info-fd", str(write)]
    log = folder / "log.txt"
    with log.open("w") as output:
        process = subprocess.Popen(
            [*words, *(command or image.config["Cmd"])], pass_fds=[write],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        )  # fmt: skip
    os.close(write)
    try:
        with os.fdopen(read) as info:
            container = Container(process, log, json.load(info)["child-pid"])
        yield container
    finally:
        with suppress(ProcessLookupError):
            os.kill(container.process_id, signal.SIGKILL)
        process.wait(60)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    folder = tmp_path_factory.mktemp("image")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="tar")
    [manifest] = json.loads((folder / "manifest.json").read_bytes())
    for layer in manifest["Layers"]:
        with tarfile.open(folder / layer) as files:
            files.extractall(folder / "root", filter="tar")
    return Image(folder / "root", json.loads((folder / manifest["Config"]).read_bytes())["config"])


def free_ports(count: int) -> list[int]:
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports


def use(bootstrap: str) -> None:
    with Producer(bootstrap) as producer:
        producer.send("orders", b"42")
        producer.flush()
    with Consumer(bootstrap, group_id="g", auto_offset_reset="earliest") as consumer:
        consumer.subscribe(["orders"])
        assert next(iter(consumer)).value == b"42"


def test_what_the_image_says_of_itself(image: Image) -> None:
    assert image.config["User"] == "1000:1000"
    assert image.config["ExposedPorts"] == {"9092/tcp": {}}
    assert image.config["Volumes"] == {"/var/lib/fencepost": {}}
    assert ARCHIVE.stat().st_size <= MEGABYTES_MAX * 1_000_000


def test_testcontainers_starts_it_like_apache_kafka(image: Image, tmp_path: Path) -> None:
    outside, between, controller = free_ports(3)
    variables = TESTCONTAINERS | {
        "KAFKA_LISTENERS":
            f"PLAINTEXT://:{outside},BROKER://:{between},CONTROLLER://:{controller}",
    }  # fmt: skip
    del variables["KAFKA_ADVERTISED_LISTENERS"]  # only the script knows it
    with running(image, tmp_path, variables, "sh", "-c", WAITS_FOR_STARTER) as container:
        starter = tmp_path / "tmp" / Path(STARTER).name
        written = starter.with_name("written")
        written.write_text(
            "#!/bin/bash\nexport KAFKA_ADVERTISED_LISTENERS="
            f"PLAINTEXT://localhost:{outside},BROKER://localhost:{between}\n"
            "/etc/kafka/docker/run \n"
        )
        written.chmod(0o777)
        written.rename(starter)
        container.is_ready()
        use(f"localhost:{outside}")


def test_a_volume_keeps_topics_and_a_signal_stops_it(image: Image, tmp_path: Path) -> None:
    [port] = free_ports(1)
    variables = {
        "KAFKA_LISTENERS": f"PLAINTEXT://:{port}",
        "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://localhost:{port}",
        "KAFKA_LOG_DIRS": "/var/lib/fencepost/topics",
    }
    for _ in range(2):
        with running(image, tmp_path, variables) as container:
            container.is_ready()
            use(f"localhost:{port}")
            container.stop()
    assert (tmp_path / "data/topics/orders-0/00000000000000000000.log").stat().st_size > 0


def compose_files() -> list[dict[str, str]]:
    """Return the broker's variables in each compose file of the guide."""
    text = HOW_TO.read_text(encoding="utf-8")
    blocks = re.findall(r"^```yaml\n(.+?)^```", text, re.MULTILINE | re.DOTALL)
    return [dict(re.findall(r"^ +(KAFKA_\w+): (\S+)$", each, re.MULTILINE)) for each in blocks]


@pytest.mark.parametrize("variables", compose_files(), ids=["two listeners", "console"])
def test_compose_files_of_the_guide(
    image: Image, tmp_path: Path, variables: dict[str, str]
) -> None:
    own = dict(zip(("9092", "19092", CONTROL_PORT), map(str, free_ports(3)), strict=True))
    variables = {
        name: re.sub(r"\d{4,}", lambda port: own[port[0]], value)
        for name, value in variables.items()
    }
    token = "a-secret-of-24-characters"
    if "KAFKA_CONTROL_TOKEN_FILE" in variables:
        # Docker puts it into /run, where this sandbox cannot make a file.
        variables["KAFKA_CONTROL_TOKEN_FILE"] = "/tmp/token"
        (tmp_path / "tmp").mkdir()
        (tmp_path / "tmp/token").write_text(token)
    with running(image, tmp_path, variables) as container:
        container.is_ready()
        use(f"localhost:{own['9092']}")
        if "KAFKA_CONTROL_ADDRESS" in variables:
            at = f"http://localhost:{own[CONTROL_PORT]}"
            with urlopen(at) as page:
                assert b"console.js" in page.read()
            asked = Request(f"{at}/v1/about", headers={"Authorization": f"Bearer {token}"})
            with urlopen(asked) as about:
                assert json.load(about)["kind"] == "broker"
        container.stop()


def test_its_health_check_sees_a_broker_and_none(image: Image, tmp_path: Path) -> None:
    [port] = free_ports(1)
    check = image.config["Healthcheck"]["Test"]
    assert check[0] == "CMD"
    words = [each.replace("9092", str(port)) for each in check[1:]]
    assert image.run(*words) != 0
    with running(image, tmp_path, {"KAFKA_LISTENERS": f"PLAINTEXT://:{port}"}) as container:
        container.is_ready()
        assert image.run(*words) == 0

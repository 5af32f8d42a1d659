"""Our broker as a release of Apache Kafka, beside that release; and clients of their times.

Only 3.9 is started, and Java's client of 2.8 with it; `make personas` sets FENCEPOST_TEST_PERSONAS,
and then all releases are compared, and all clients meet all of them, the real ones as well.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from fencepost_broker.blocking import Broker
from fencepost_broker.config.values.releases import RELEASES, release_of
from fencepost_protocol.framing import api_key_of
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest

from tests.conformance.answer_cases import TOPICS, plain
from tests.conformance.answer_cases import cases as nonsense
from tests.conformance.controller_peer import ask
from tests.conformance.releases.cases import CASES, Asked, defaults
from tests.support.apache_kafka import (
    TOOL_JVM_FLAGS,
    ApacheKafka,
    KafkaUnavailableError,
    build_once,
    java_command,
)
from tests.support.apache_releases import (
    RELEASES_DIR,
    VERSIONS,
    Told,
    apache_release,
    jars_of,
    told_by,
)

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

IN_FULL: Final = bool(os.environ.get("FENCEPOST_TEST_PERSONAS"))
CHOSEN: Final = RELEASES if IN_FULL else ("3.9",)
CLIENT_SECONDS: Final = 120.0
OURS_ARE_OTHER: Final = {
    # Since 4.0, an update of features is refused as a whole.
    ("features_that_are_too_new", "3.9"): [95],
}
"""Answers of our broker that differ from the release's."""
OTHER_ANSWERS: Final = {
    "2.8": (
        "DescribeConfigs v. (16|32) ",  # kinds of resources that are newer
        "DescribeProducers '(nope|a b|)', 0",  # without a message, and without a check of the name
        "ListOffsets v. .* -[3-7]$",  # taken as times
    ),
    "3.9": (
        "DescribeConfigs v. 32 ",
        r"ListOffsets \(",  # the same partition twice, or none
    ),
}
"""Requests, by their labels, to which the answers differ."""


class Pair(NamedTuple):
    """A release, and our broker that imitates it."""

    name: str
    theirs: ApacheKafka
    ours: Broker

    def asked(self) -> tuple[Asked, Asked]:
        release = release_of(self.name)
        assert release is not None
        port = int(self.ours.bootstrap.rpartition(":")[2])
        return Asked(self.theirs.port, release), Asked(port, release)


@pytest.fixture(scope="module", params=CHOSEN)
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    try:
        with (
            apache_release(request.param) as theirs,
            Broker(release=request.param, settings={"kafka.defaults": True}) as ours,
        ):
            yield Pair(request.param, theirs, ours)
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


def test_the_table_says_what_the_release_answers(pair: Pair) -> None:
    recorded = release_of(pair.name)
    assert recorded is not None
    written = Told(dict(recorded.versions), dict(recorded.supported), dict(recorded.finalized))
    assert told_by(pair.theirs.port) == written


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_the_same_is_felt(pair: Pair, case: Callable[[Asked], Any]) -> None:
    theirs, ours = map(case, pair.asked())
    assert OURS_ARE_OTHER.get((case.__name__, pair.name), theirs) == ours
    assert (case.__name__, pair.name) not in OURS_ARE_OTHER or theirs != ours, "mended: take it out"


def test_the_same_defaults(pair: Pair) -> None:
    """Of settings that both have; ours are Apache Kafka's of 4.3 where the release had none."""
    theirs, ours = map(defaults, pair.asked())
    both = theirs.keys() & ours.keys()
    assert len(both) > 50
    assert {name: ours[name] for name in both} == {name: theirs[name] for name in both}


def test_the_same_answers_to_what_makes_no_sense(pair: Pair) -> None:
    """What 4.3 and ours are asked in `answer_cases.py`, as far as the release has it."""
    theirs, ours = pair.asked()
    for side in (theirs, ours):
        ask(side.port, TOPICS, 7)
        for topic in TOPICS.topics:
            side.until_written(topic.name)
    asked, different = 0, []
    for label, message, version in nonsense():
        low, high = theirs.release.versions.get(api_key_of(message), (0, -1))
        if low <= version <= high:
            asked += 1
            if plain(ask(theirs.port, message, version)) != plain(ask(ours.port, message, version)):
                different.append(label)
    assert asked > 200
    known = OTHER_ANSWERS.get(pair.name, ())
    assert [label for label in different if not any(re.match(each, label) for each in known)] == []
    unseen = [each for each in known if not any(re.match(each, label) for label in different)]
    assert unseen == [], "mended: take them out"


# -- clients ---------------------------------------------------------------------------------------


def java(version: str) -> list[str]:
    if shutil.which("javac") is None:
        pytest.skip("compiling its script needs a JDK, 17 or later")
    return java_command(jars_of(version), TOOL_JVM_FLAGS, str(RELEASES_DIR / "Round.java"))


def python(script: str) -> list[str]:
    environment = RELEASES_DIR / ".venv-clients"
    interpreter = environment / ("Scripts" if sys.platform == "win32" else "bin") / "python"

    def install(folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        pip = [str(interpreter), "-m", "pip", "install", "-q", "-r", "requirements.txt"]
        subprocess.run(pip, cwd=folder, check=True)

    if sys.version_info >= (3, 12):
        pytest.skip("kafka-python 2.0.2 does not run on Python 3.12 and later")
    build_once(RELEASES_DIR, ["requirements.txt"], environment.name, install)
    return [str(interpreter), str(RELEASES_DIR / script)]


CLIENTS: Final[dict[str, tuple[Callable[[], list[str]], str]]] = {
    "kafka-python 2.0.2": (lambda: python("kafka_python_round.py"), "2.0.2: one, two"),
    "confluent-kafka 2.6.1": (lambda: python("confluent_round.py"), "2.6.1: committed, last"),
    **{
        f"kafka-clients {version}": (
            lambda version=version: java(version),  # type: ignore[misc]
            f"{version}: committed, with offsets",
        )
        for version in (VERSIONS[release] for release in ("2.8", "3.9", "4.0"))
    },
}
"""The command of each, which gets the bootstrap servers, and what it prints."""
OF_THEIR_TIME: Final = {
    "2.8": ["kafka-python 2.0.2", "kafka-clients 2.8.2"],
    "3.9": ["confluent-kafka 2.6.1", "kafka-clients 2.8.2"],
}
MEETINGS: Final = [
    (release, client)
    for release in RELEASES
    for client in (CLIENTS if IN_FULL else OF_THEIR_TIME.get(release, ()))
]


@pytest.mark.parametrize(("release", "client"), MEETINGS)
def test_clients_of_their_time(release: str, client: str) -> None:
    make, said = CLIENTS[client]
    with Broker(release=release, topics={"t": 1}) as broker:
        assert run(make(), broker.bootstrap, "t") == said


@pytest.mark.skipif(not IN_FULL, reason="only `make personas` runs the scripts on all releases")
@pytest.mark.parametrize("client", CLIENTS)
def test_clients_see_the_same_of_the_release(pair: Pair, client: str) -> None:
    make, said = CLIENTS[client]
    topic = f"t-{re.sub('[^a-z0-9]', '-', client)}"
    theirs, _ = pair.asked()
    theirs.ask(CreateTopicsRequest([CreatableTopic(topic, 1, 1)], 10_000))
    assert run(make(), pair.theirs.bootstrap, topic) == said


def run(command: list[str], *arguments: str) -> str:
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=CLIENT_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.strip()

"""Apache Kafka's transaction coordinator and ours get the same requests: same answers, same log.

``transaction_scripts.txt`` has the requests. Markers cannot be held back on a Kafka that is alone:
what is answered while they are out is compared in ``test_replication_differential.py``. Ours runs
with ``transaction.park.enable=false``, Kafka's way. Nothing differs on purpose, except that Kafka
4.3 refuses to keep a prepared transaction (KIP-939): that is not asked.
"""

from __future__ import annotations

import asyncio
import re
from itertools import zip_longest
from pathlib import Path

import pytest
from fencepost_protocol.generated.update_features import FeatureUpdateKey, UpdateFeaturesRequest

from tests.conformance.transaction_peer import Peer, Script, scripts_in, use_up_epochs
from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError
from tests.support.broker import Client, running_broker

pytestmark = pytest.mark.conformance

SCRIPTS = Path(__file__).parent / "transaction_scripts.txt"
FEATURE = "transaction.version"
SAFE_DOWNGRADE = 2
LATEST = 2


EXPIRING = {
    "transactional.id.expiration.ms": "1500",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "50",
}
EXPIRY_SCRIPTS = [
    (
        "expiry: Empty, Complete and Ongoing",
        """
        init a
        init b
        send12 b t-0
        end5 b commit
        settle b
        init c
        send12 c t-1
        init d timeout=500
        send12 d t-2
        sleep 3000
        describe a
        describe b
        describe c
        describe d
        list
        init a own
        init b own epoch=-1
        send12 b t-0 epoch==0
        end5 c abort
        settle c
        init a
        """,
    )
]
"""Ids that nobody used for so long are gone, and who comes back is a stranger (KIP-360)."""
Outcomes = list[tuple[list[str], list[str]]]


async def outcomes(client: Client, played: list[Script], *, kafka: bool = False) -> Outcomes:
    peer = Peer(client, epochs_are_used_up=kafka)
    await peer.prepare()
    await peer.logged()  # what was there before
    return [(await peer.play(*script), await peer.logged()) for script in played]


async def ours(version: int, played: list[Script], settings: dict[str, str]) -> Outcomes:
    async with running_broker({"transaction.park.enable": "false", **settings}) as broker:
        if version != LATEST:
            update = FeatureUpdateKey(FEATURE, version, upgrade_type=SAFE_DOWNGRADE)
            answer = await broker.ask(UpdateFeaturesRequest(feature_updates=[update]), 1)
            assert not answer.error_code
        return await outcomes(broker, played)


async def theirs(bootstrap: str, played: list[Script]) -> Outcomes:
    async with Client(bootstrap) as client:
        return await outcomes(client, played, kafka=True)


@pytest.mark.parametrize("version", [1, 2])
def test_the_same_answers_and_records(version: int) -> None:
    assert len(scripts_in(SCRIPTS)) > 20
    may_prepare = str(version == LATEST).lower()
    compare(
        version,
        scripts_in(SCRIPTS),
        {
            "unstable.api.versions.enable": "true",
            "transaction.two.phase.commit.enable": may_prepare,
        },
    )


def test_ids_that_nobody_uses_are_forgotten_alike() -> None:
    compare(LATEST, EXPIRY_SCRIPTS, EXPIRING)


def compare(version: int, played: list[Script], settings: dict[str, str]) -> None:
    quick = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "50", **settings}
    feature = ["--feature", f"{FEATURE}={version}"]
    try:
        with ApacheKafka(quick, format_arguments=feature) as kafka:
            if any(re.search(r" x\d{4,}$", script, re.MULTILINE) for _, script in played):
                asyncio.run(use_up_epochs(kafka.bootstrap, played))
                kafka.restart()
            expected = asyncio.run(theirs(kafka.bootstrap, played))
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    different = []
    found_here = asyncio.run(ours(version, played, settings))
    for (title, _), kafka_has, we_have in zip(played, expected, found_here, strict=True):
        for what, told, found in zip(("answers", "records"), kafka_has, we_have, strict=True):
            if told != found:
                lines = [
                    f"  Kafka {one}\n  ours  {other}"
                    for one, other in zip_longest(told, found)
                    if one != other
                ]
                different.append("\n".join([f"{title}: {what}", *lines]))
    assert not different, "\n".join(different)

"""Apache Kafka's transaction coordinator and ours get the same requests: same answers, same log.

``transaction_scripts.txt`` has the requests. Markers cannot be held back on a Kafka, so that what
is answered while they are outstanding stands in the traces of ``tests/machine`` alone. Ours runs
with ``transaction.park.enable=false``, Kafka's way. Nothing differs on purpose.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from fencepost_protocol.generated.update_features import FeatureUpdateKey, UpdateFeaturesRequest

from tests.conformance.transaction_peer import Peer
from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError
from tests.support.broker import Client, running_broker

pytestmark = pytest.mark.conformance

SCRIPTS = Path(__file__).parent / "transaction_scripts.txt"
FEATURE = "transaction.version"
SAFE_DOWNGRADE = 2
LATEST = 2


def scripts() -> list[tuple[str, str]]:
    _, *parts = re.split(r"^== ", SCRIPTS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


async def outcomes(client: Client) -> list[tuple[list[str], list[str]]]:
    peer = Peer(client)
    await peer.prepare()
    return [(await peer.play(*script), await peer.logged()) for script in scripts()]


async def ours(version: int) -> list[tuple[list[str], list[str]]]:
    async with running_broker({"transaction.park.enable": "false"}) as broker:
        if version != LATEST:
            update = FeatureUpdateKey(FEATURE, version, upgrade_type=SAFE_DOWNGRADE)
            answer = await broker.ask(UpdateFeaturesRequest(feature_updates=[update]), 1)
            assert not answer.error_code
        return await outcomes(broker)


async def theirs(bootstrap: str) -> list[tuple[list[str], list[str]]]:
    async with Client(bootstrap) as client:
        return await outcomes(client)


@pytest.mark.parametrize("version", [1, 2])
def test_the_same_answers_and_records(version: int) -> None:
    quick = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "50"}
    feature = ["--feature", f"{FEATURE}={version}"]
    try:
        with ApacheKafka(quick, format_arguments=feature) as kafka:
            expected = asyncio.run(theirs(kafka.bootstrap))
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    different = []
    for (title, _), kafka_has, we_have in zip(
        scripts(), expected, asyncio.run(ours(version)), strict=True
    ):
        for what, told, found in zip(("answers", "records"), kafka_has, we_have, strict=True):
            if told != found:
                lines = [
                    f"  Kafka {one}\n  ours  {other}"
                    for one, other in zip(told, found, strict=False)
                    if one != other
                ]
                different.append("\n".join([f"{title}: {what}", *lines]))
    assert len(expected) > 20
    assert not different, "\n".join(different)

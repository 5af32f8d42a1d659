"""A broker's process that a fault rule ends at a step of a transaction."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker import attach
from fencepost_broker.operations import CrashAtStep, OperationRefusedError
from fencepost_client import Consumer, KafkaError, Producer, TopicPartition

pytestmark = pytest.mark.asyncio

GIVEN_UP_S = 60


def started(folder: Path, port: int = 0) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
    command = [sys.executable, "-m", "fencepost_broker", "up", "--json", "--exit-with-parent"]
    command += ["--port", str(port), "--data-dir", str(folder), "--control", "0", "--topic", "t:1"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())


@pytest.mark.parametrize("step", ["transaction.PrepareCommit.after", "marker.t-0.before"])
async def test_a_rule_ends_the_process_at_a_step_and_the_next_one_commits(
    tmp_path: Path, step: str
) -> None:
    process, told = started(tmp_path)
    port = int(told["bootstrap"].rpartition(":")[2])
    try:
        attach(told["control"]).faults.run(CrashAtStep(step=step), api="EndTxn", times=1)
        async with Producer(told["bootstrap"], transactional_id="a") as producer:
            producer.begin()
            await (await producer.send("t", b"paid"))
            committing = asyncio.ensure_future(producer.commit())
            assert await asyncio.to_thread(process.wait, GIVEN_UP_S) == -signal.SIGKILL
            process.communicate()
            process, told = started(tmp_path, port)
            with suppress(KafkaError):
                await committing
        async with Consumer(
            told["bootstrap"], isolation_level="read_committed", auto_offset_reset="earliest"
        ) as consumer:
            consumer.assign([TopicPartition("t", 0)])
            found: list[bytes | None] = []
            async with asyncio.timeout(GIVEN_UP_S):
                while not found:
                    found = [each.value for each in await consumer.getmany(timeout_ms=200)]
        assert found == [b"paid"]
    finally:
        process.kill()
        process.communicate()


async def test_a_step_that_is_none_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    process, told = started(tmp_path)
    try:
        with pytest.raises(OperationRefusedError, match="did you mean transaction"):
            await attach(told["control"]).perform(
                CrashAtStep(step="transaction.PreparCommit.after")
            )
    finally:
        process.kill()
        process.communicate()

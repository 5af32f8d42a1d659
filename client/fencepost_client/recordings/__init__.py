"""Recordings of what clients sent and were answered, and their replay.

A recording becomes a regression test::

    def test_the_bug_is_gone(fencepost):
        assert replay("bug.fprec", fencepost.bootstrap) == []
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

if TYPE_CHECKING:
    from pathlib import Path

    from fencepost_client.network.security import SecuritySettings
    from fencepost_client.recordings.result import Difference


def replay(
    path: str | Path, bootstrap: str, **security: Unpack[SecuritySettings]
) -> list[Difference]:
    """Send a recording's requests to a cluster, and return how its answers differ.

    Ids, times and offsets are mapped. In asyncio tests, use ``replay_async``. Raises ``ValueError``
    for a file that is no recording, and ``KafkaError`` if the cluster cannot be reached.
    """
    from fencepost_client.recordings.replaying import run

    return run(replay_async(path, bootstrap, **security))


async def replay_async(
    path: str | Path, bootstrap: str, **security: Unpack[SecuritySettings]
) -> list[Difference]:
    """Do what ``replay`` does, in the running event loop."""
    from fencepost_client.network.security import read_security
    from fencepost_client.recordings.replaying import Replay, replay_file

    return (await replay_file(path, Replay(bootstrap, read_security(**security)))).differences

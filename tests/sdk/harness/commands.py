"""Commands that run in a thread, and what they print."""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import Any, Final

import pytest
from fencepost_broker.cli.commands import topics
from fencepost_client.commands import configs, consume, groups, produce
from fencepost_protocol.commands import Command

COMMANDS: Final[dict[str, Command]] = {
    each.name: each
    for each in (
        topics.COMMAND, groups.COMMAND, configs.COMMAND, consume.COMMAND, produce.COMMAND,
    )
}  # fmt: skip


class Shell:
    """Runs commands in another thread, since they have a loop of their own."""

    def __init__(self, bootstrap: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._bootstrap = bootstrap
        self._capsys = capsys

    def _run(self, name: str, words: tuple[str, ...]) -> int:
        parser = argparse.ArgumentParser()
        COMMANDS[name].add_arguments(parser)
        try:
            options = parser.parse_args([*words, "--bootstrap", self._bootstrap])
        except SystemExit as exit_:
            return int(str(exit_.code))
        return COMMANDS[name].run(options)

    async def run(self, name: str, *words: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        code = await asyncio.to_thread(self._run, name, words)
        return code, *self._capsys.readouterr()

    async def lines(self, *words: str) -> list[str]:
        """What it writes, with one space between columns."""
        code, out, err = await self.run(*words)
        assert code == 0, err
        return [" ".join(line.split()) for line in out.splitlines()]

    async def json(self, *words: str) -> Any:
        code, out, err = await self.run(*words, "--json")
        assert code == 0, err
        return json.loads(out)

    async def refused(self, *words: str, code: int = 1) -> str:
        got, out, err = await self.run(*words)
        assert (got, out) == (code, "")
        return err

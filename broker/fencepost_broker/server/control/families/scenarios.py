"""Scenarios: failures that are made to happen at this broker, for those who watch."""

from __future__ import annotations

import asyncio
import sys
from http import HTTPStatus
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from fencepost_broker.config.values.endpoints import parse_control_address
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import ControlContext, Route

_SECONDS_MAX: Final = 60.0
_EVERY_ADDRESS: Final = ("", "0.0.0.0", "::")  # noqa: S104 (only if it was asked for)


class ScenarioName(Struct, frozen=True, forbid_unknown_fields=True):
    """The name of a scenario."""

    name: Annotated[str, Meta(pattern="^[a-z][a-z0-9-]*$")]


class Happened(Struct, frozen=True):
    """What happened in a scenario."""

    name: str
    timeline: Annotated[list[str], Meta(description="in order, for people")]
    facts: Annotated[dict[str, int | str], Meta(description="offsets, errors, states")]


async def run_scenario(context: ControlContext, named: ScenarioName) -> Happened:
    """Make a scenario happen at this broker, as ``fencepost scenario run --control`` does."""
    settings = context.embedded.settings
    assert settings.control_address is not None
    host, port = parse_control_address(settings.control_address)
    at = f"[{host}]" if ":" in host else host
    words = [f"--control={'127.0.0.1' if host in _EVERY_ADDRESS else at}:{port}", "--json"]
    if settings.control_token_file is not None:
        words.append(f"--control-token-file={settings.control_token_file}")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "fencepost_broker", "scenario", "run", named.name, *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_SECONDS_MAX):
            told, why = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        last = why.decode(errors="replace").strip().rpartition("\n")[2]
        raise ProblemError(
            HTTPStatus.CONFLICT,
            last.removeprefix("fencepost scenario: "),
            advice="POST /v1/reset removes its topics and all else that came after the start.",
        )
    return msgspec.json.decode(told, type=Happened)


ROUTES: Final = (
    Route(
        "POST",
        "/v1/scenarios/{name}",
        run_scenario,
        "make a scenario happen at this broker, and tell what happened",
        request=ScenarioName,
        response=Happened,
        errors=(HTTPStatus.CONFLICT,),
    ),
)

"""The files of the console's page: who gets them, and what they may do in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_broker.server.control.console import POLICY

from tests.control.harness import controlled

PAGE_BYTES_MAX = 300_000
FILES = ("/", "/console.js", "/console.css", "/icon.svg", "/scenarios.json")


@pytest.mark.asyncio
async def test_files_of_the_page_may_do_nothing_but_talk_to_their_own_port() -> None:
    size = 0
    async with controlled() as broker:
        for path in FILES:
            async with broker.session.get(f"http://{broker.address}{path}") as answer:
                assert answer.status == 200
                assert answer.headers["Content-Security-Policy"] == POLICY
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                size += len(await answer.read())
    assert "unsafe" not in POLICY
    assert POLICY.startswith("default-src 'none'")
    assert 10_000 < size < PAGE_BYTES_MAX


@pytest.mark.asyncio
async def test_only_the_page_itself_needs_no_token(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-secret-of-24-characters")
    async with controlled(control_token_file=token) as broker:
        for path, status in (*((each, 200) for each in FILES), ("/v1/about", 401)):
            async with broker.session.get(f"http://{broker.address}{path}") as answer:
                assert (path, answer.status) == (path, status)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "attacker.example"}, 421),
        ({"Origin": "http://attacker.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
async def test_the_page_is_refused_to_others(headers: dict[str, str], status: int) -> None:
    async with controlled() as broker:
        for path in FILES:
            url = f"http://{broker.address}{path}"
            async with broker.session.get(url, headers=headers) as answer:
                assert answer.status == status


@pytest.mark.asyncio
async def test_a_control_port_says_what_it_controls() -> None:
    async with (
        controlled() as broker,
        broker.session.get(f"http://{broker.address}/v1/about") as answer,
    ):
        assert (await answer.json())["kind"] == "broker"

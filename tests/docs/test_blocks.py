"""Every console and Python block of README and the guides does what its page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import GUIDES, blocks, name
from tests.docs.terminal import Terminal


def is_slow(page: Path) -> bool:
    """Whether it starts processes."""
    return any(
        each.is_run and (each.language == "console" or each.is_test) for each in blocks(page)
    )


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name(page), marks=[pytest.mark.slow] if is_slow(page) else [])
        for page in GUIDES
        if any(each.is_run for each in blocks(page))
    ],
)
def test_a_page_does_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Terminal(tmp_path) as terminal:
        for block in blocks(page):
            if block.is_run:
                try:
                    terminal.run(block)
                except BaseException as error:
                    error.add_note(f"{name(page)}:{block.line}")
                    raise

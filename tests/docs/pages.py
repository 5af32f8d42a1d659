"""The pages of the documentation: their links, headings and blocks of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")],
)
GUIDES: Final = [
    ROOT / "README.md",
    *(
        page
        for folder in ("tutorials", "how-to", "reference", "explanation")
        for page in sorted(ROOT.glob(f"docs/{folder}/*.md"))
    ),
]
"""Pages whose blocks are run."""

_FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
_COMMENT: Final = re.compile(r"<!-- ([a-z ]+): (.*) -->\n\Z")
_FILE: Final = re.compile(r"(write|add to) `([\w.-]+)`[^\n`]*:\n\n\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Block:
    """A fenced block of code."""

    language: str
    text: str
    line: int
    not_run: str = ""
    """Why it is not run: `<!-- not run: why -->` directly before the block."""
    stops_at: str = ""
    """The output at which an endless block is stopped: `<!-- stops at: output -->`."""
    file: str = ""
    """The file that the sentence before the block says to write, or to add to."""
    is_added: bool = False

    @property
    def is_test(self) -> bool:
        """Whether the block is for pytest."""
        return (
            self.language == "python"
            and re.search(r"^(async )?def test_", self.text, re.MULTILINE) is not None
        )

    @property
    def is_run(self) -> bool:
        """Whether a test runs it, or writes it to a file."""
        return not self.not_run and bool(self.language in {"python", "console"} or self.file)


def blocks(page: Path) -> Iterator[Block]:
    """Give the page's blocks in order."""
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        before = text[: found.start()]
        comment = _COMMENT.search(before)
        mark, value = comment.groups() if comment else ("", "")
        named = _FILE.search(before)
        yield Block(
            found[1],
            found[2],
            line=before.count("\n") + 1,
            not_run=value if mark == "not run" else "",
            stops_at=value if mark == "stops at" else "",
            file=named[2] if named else "",
            is_added=named is not None and named[1].lower() == "add to",
        )


def marks(page: Path) -> list[str]:
    """Give the names of all one-line comments of the page."""
    return re.findall(r"^<!-- ([a-z ]+): .* -->$", page.read_text(encoding="utf-8"), re.MULTILINE)


def links(page: Path) -> Iterator[str]:
    """Give the targets of the page's relative links."""
    for target in _LINK.findall(_prose(page)):
        if "://" not in target and not target.startswith("mailto:"):
            yield target


def anchors(page: Path) -> set[str]:
    """Give the anchors of the page's headings, as GitHub makes them."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", _prose(page), re.MULTILINE)
    }


def _prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def name(page: Path) -> str:
    """Give the path of the page in the repository."""
    return page.relative_to(ROOT).as_posix()

"""The documentation site: `make docs-site` builds it in build/site.

Pages, and the files that they link to, are put into build/pages at their places in the repository.
Links therefore need no change, and mkdocs checks each of them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = ROOT / "build/pages"
SITE: Final = ROOT / "build/site"
_PATTERNS: Final = ("*.md", "docs/**/*.md", "examples/*.md")
_LINK: Final = re.compile(r"\]\(([^)\s#]+)")
_LOADED: Final = re.compile(
    r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"'
)
"""What a browser would load from elsewhere. Links that a reader may click are none."""


def main() -> int:
    """Build the site, and check that it needs nothing from elsewhere."""
    shutil.rmtree(PAGES, ignore_errors=True)
    pages = [page for pattern in _PATTERNS for page in ROOT.glob(pattern)]
    for page in pages:
        if page.name != "plan.md":
            _copy(page)
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean"],
        cwd=ROOT, check=False, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    if done.returncode:
        return done.returncode
    elsewhere = [
        f"{page.relative_to(SITE)}: {found}"
        for page in SITE.rglob("*.html")
        for found in _LOADED.findall(page.read_text(encoding="utf-8"))
    ]
    sys.stderr.write("".join(f"loaded from elsewhere: {each}\n" for each in elsewhere))
    return 1 if elsewhere else 0


def _copy(page: Path) -> None:
    files = {page}
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        linked = (page.parent / target).resolve()
        if "://" not in target and linked.is_file():
            files.add(linked)
    for file in files:
        place = PAGES / file.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)


if __name__ == "__main__":
    raise SystemExit(main())

"""Writes a generated page of the documentation, or checks that it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path


def write_or_check(page: Path, text: str, out_of_date: str) -> int:
    """Write the page, or only compare it with ``--check``."""
    if "--check" not in sys.argv[1:]:
        page.write_text(text, encoding="utf-8")
        return 0
    if page.is_file() and page.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{out_of_date}: run `make docs`\n")
    return 1

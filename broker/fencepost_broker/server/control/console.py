"""The console: the files of its page, which every control port serves without a token.

They say nothing about the broker. The page asks the control port for that, as any client does, and
asks its user for the token if there is one. `console/` in the repository has the source.
"""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Final

from aiohttp import hdrs, web

_FOLDER: Final = Path(__file__).parent.parent / "console"
_FILES: Final = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/console.js": ("console.js", "text/javascript; charset=utf-8"),
    "/console.css": ("console.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
    "/scenarios.json": ("scenarios.json", "application/json"),
}
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'"
    " blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page runs no script but its own, and talks to its own port only.

``blob:`` are pictures that the page makes itself: an export of the timeline as PNG.
"""
_HEADERS: Final = {
    hdrs.CACHE_CONTROL: "no-cache",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def is_console(path: str) -> bool:
    """Whether this path is one of the page's files."""
    return path in _FILES


def missing_files() -> list[str]:
    """Return the names of the page's files that are not installed."""
    return [name for name, _ in _FILES.values() if not (_FOLDER / name).is_file()]


def console_routes() -> list[web.RouteDef]:
    """Return the routes of the page's files."""
    return [web.get(path, _serve) for path in _FILES]


async def _serve(request: web.Request) -> web.Response:
    name, content_type = _FILES[request.path]
    content = (_FOLDER / name).read_bytes()
    headers = {**_HEADERS, hdrs.CONTENT_TYPE: content_type}
    response = web.Response(status=HTTPStatus.OK, body=content, headers=headers)
    if content_type.startswith("text/"):
        response.enable_compression()
    return response

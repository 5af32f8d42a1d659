"""Pages of reports: one file each, light, dark or printed, with nothing from elsewhere."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Final, NamedTuple

STYLE: Final = """
:root { color-scheme: light;
  --paper: #ffffff; --ink: #1d2127; --soft: #5c6672; --line: #d8dde3; --panel: #f5f7f9;
  --commit: #2468c9; --abort: #c96a12; --open: #7c4fc4; --good: #17733f; --bad: #c3262b;
  --bar: #4a7fc1; --none: #646e79; }
@media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark;
  --paper: #14171b; --ink: #e3e7ec; --soft: #98a3af; --line: #333a43; --panel: #1c2126;
  --commit: #6aa5f5; --abort: #eda04f; --open: #b693f0; --good: #58c98a; --bad: #ff7a76;
  --bar: #6d9bd8; --none: #98a3af; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 72rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .25rem; }
h3 { font-size: .95rem; margin: 1rem 0 .25rem; }
p { margin: .25rem 0 .75rem; max-width: 62rem; }
.soft, figcaption { color: var(--soft); }
.outcome { margin: .75rem 0; font-size: 1.15rem; font-weight: 600; }
.outcome div { margin: .35rem 0; padding: .35rem .9rem; border-left: 4px solid currentColor; }
.good { color: var(--good); } .bad { color: var(--bad); } .none { color: var(--none); }
dl { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: .5rem 0; }
dt { color: var(--soft); font-size: .85rem; } dd { margin: 0; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 500; white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; padding-right: 1rem; }
td.status { font-weight: 600; white-space: nowrap; }
code { font: .88em ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
details { margin: .5rem 0; padding: .5rem .8rem; background: var(--panel); border-radius: .4rem; }
summary { cursor: pointer; font-weight: 600; overflow-wrap: anywhere; }
a { color: var(--commit); }
td details { margin: 0; padding: 0; background: none; } td summary { font-weight: 400; }
pre { overflow-x: auto; font: .75rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
figure { margin: .75rem 0 0; overflow-x: auto; }
svg { display: block; width: 100%; min-width: 46rem; height: auto;
  font: 11px system-ui, sans-serif; }
svg text { fill: var(--soft); } svg text.name { fill: var(--ink); }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .commit { fill: var(--commit); } svg .abort { fill: var(--abort); }
svg .open { fill: var(--open); } svg .bar { fill: var(--bar); } svg .found { fill: var(--bad); }
svg .area { fill: var(--bar); fill-opacity: .25; stroke: var(--bar); stroke-width: 1.5; }
svg .log { fill: var(--bar); fill-opacity: .45; }
svg .hole { fill: url(#hatch); stroke: var(--soft); stroke-width: .5; }
svg .node { fill: var(--panel); stroke: var(--bar); stroke-width: 1.5; }
svg .edge { stroke: var(--soft); stroke-width: 1.5; fill: none; }
svg .tip { fill: var(--soft); }
svg .hatch { stroke: var(--soft); stroke-width: 1.5; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .3em 0 1em;
  print-color-adjust: exact; }
.key.commit { background: var(--commit); } .key.abort { background: var(--abort); }
.key.open { background: var(--open); }
svg .good { fill: var(--good); } svg .bad { fill: var(--bad); }
svg .none { fill: var(--none); }
svg .goal { stroke: var(--ink); stroke-width: 1.5; }
@page { margin: 15mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  .wide, figure, pre { overflow: visible; }
  svg { min-width: 0; }
  th { white-space: normal; } td { overflow-wrap: anywhere; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  tr, dl, .outcome, summary { break-inside: avoid; }
  h1, h2, h3, figcaption, summary { break-after: avoid; }
  thead { display: table-header-group; }
  details::details-content { content-visibility: visible; height: auto; }
  a[href]::after { content: " (" attr(href) ")"; overflow-wrap: anywhere; }
}
"""
_POLICY: Final = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"
    + b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    + "'"
)


class Html(str):
    """A text that is HTML already; every other text is escaped."""

    __slots__ = ()


class Status(NamedTuple):
    """A text in the colour of what it says."""

    text: str
    kind: str
    """A class of the style sheet: good, bad or none."""


def make_page(title: str, body: str) -> str:
    """A whole page; its body is HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def html(text: object) -> str:
    """Text as HTML."""
    return text if isinstance(text, Html) else escape(str(text))


# -- parts of a body, each of them HTML ------------------------------------------------------------


def outcome(lines: Iterable[Status]) -> str:
    """What the report says, in large letters."""
    said = "".join(f'<div class="{kind}">{html(text)}</div>' for text, kind in lines)
    return f'<div class="outcome">{said}</div>'


def facts(named: Mapping[str, object]) -> str:
    """Names and values in a row."""
    each = "".join(
        f"<div><dt>{html(name)}</dt><dd>{html(value)}</dd></div>" for name, value in named.items()
    )
    return f"<dl>{each}</dl>"


def figure(caption: str, picture: str) -> str:
    """A picture (SVG) with what it shows, if that needs words; a narrow window scrolls it."""
    said = f"<figcaption>{html(caption)}</figcaption>" if caption else ""
    return f'<figure tabindex="0">{said}{picture}</figure>'


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; numbers stand at the right, and a ``Status`` has its colour."""
    lines = [list(row) for row in rows]
    right = {at for row in lines for at, cell in enumerate(row) if isinstance(cell, int | float)}
    head = "".join(
        f"<th{' class=n' if at in right else ''}>{html(name)}</th>"
        for at, name in enumerate(headings)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in lines)
    return (
        '<div class="wide" tabindex="0">'
        f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>"
    )


def link(text: str, address: str) -> Html:
    """A link, whose address is printed, too."""
    return Html(f'<a href="{escape(address)}">{escape(text)}</a>')


def _cell(value: object) -> str:
    if isinstance(value, Status):
        return f'<td class="status {value.kind}">{html(value.text)}</td>'
    if isinstance(value, int | float):
        return f'<td class="n">{value:,}</td>'
    return f"<td>{html(value)}</td>"


def how(texts: Iterable[str], command: str) -> Iterator[str]:
    """How the numbers came about, and the command that repeats them."""
    yield "<h2>How it was counted</h2>"
    yield from (f"<p>{html(text)}</p>" for text in texts)
    if command:
        yield f"<p>Again: <code>{escape(command)}</code></p>"

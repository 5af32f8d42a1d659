"""Pages of reports: one file each, in light and dark, with nothing from elsewhere."""

from __future__ import annotations

from html import escape
from typing import Final

STYLE: Final = """
:root { color-scheme: light dark;
  --paper: #ffffff; --ink: #1d2127; --soft: #5c6672; --line: #d8dde3; --panel: #f5f7f9;
  --commit: #2468c9; --abort: #c96a12; --open: #7c4fc4; --good: #17733f; --bad: #c3262b;
  --bar: #4a7fc1; --none: #8a949f; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14171b; --ink: #e3e7ec; --soft: #98a3af; --line: #333a43; --panel: #1c2126;
  --commit: #6aa5f5; --abort: #eda04f; --open: #b693f0; --good: #58c98a; --bad: #ff7a76;
  --bar: #6d9bd8; --none: #77818d; } }
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
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .3em 0 1em; }
"""


def make_page(title: str, body: str) -> str:
    """A whole page; its body is HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )

"""For the documentation site: shows the paragraphs of docstrings that are Python as code."""

from __future__ import annotations

import ast
from textwrap import indent
from typing import Any

import griffe


class DocstringExamples(griffe.Extension):
    """Indents such paragraphs, so that Markdown takes them for blocks of code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring is not None:
            paragraphs = obj.docstring.value.split("\n\n")
            obj.docstring.value = "\n\n".join(
                indent(each, "    ") if _is_code(each) else each for each in paragraphs
            )


def _is_code(paragraph: str) -> bool:
    try:
        statements = ast.parse(paragraph, mode="exec").body
    except SyntaxError:
        return False
    return any(
        not isinstance(each, ast.Expr) or isinstance(each.value, ast.Call | ast.Await)
        for each in statements
    )

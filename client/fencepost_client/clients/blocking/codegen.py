"""Writes the blocking classes from the source of the asyncio ones.

    python -m fencepost_client.clients.blocking.codegen [--check]

Each public method is there again: same name, arguments and documentation, without ``async``.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1]
TARGET: Final = Path(__file__).parent / "generated" / "faces.py"
_HOME: Final = "fencepost_client.clients"
_CLASSES: Final = {
    "Transaction": ("Face[{}]", ("transaction",)),
    "Producer": ("Face[{}]", ("base", "record_sender", "producer")),
    "Consumer": (
        "ReadingFace[{}, ConsumerRecord]",
        ("base", "partition_reader", "consumer"),
    ),
    "ShareConsumer": ("ReadingFace[{}, ShareRecord]", ("base", "share_consumer")),
    "Admin": (
        "Face[{}]",
        (
            "base",
            "admin.base",
            "admin.topics",
            "admin.configs",
            "admin.groups",
            "admin.transactions",
            "admin.cluster",
            "admin.quotas_and_users",
            "admin.admin",
        ),
    ),
}
"""What each is made from: a base, and the modules whose methods it has."""
_FOR_TYPES: Final = (f"{_HOME}.history",)
"""Modules that only programs import that use them."""
_LEFT_OUT: Final = {"hold", "held", "__aiter__"}
"""What faces need themselves."""
_OF_OUR_OWN: Final = {"Delivery", "Deliveries", "OnChange", *_CLASSES}
_HEAD: Final = '''\
# Generated from the asyncio classes by fencepost_client.clients.blocking.codegen. Do not edit.
"""``fencepost_client.blocking``: the classes, without ``async``."""

from __future__ import annotations

'''
_TEXTS: Final = (
    (r"``await (\w+\(\.\.\.\))``", r"``\1``"),
    (r"; plain or\s+async\.", ", in the thread that asks."),
    (r"await (deliver\w+(?:\[0\])?)", r"\1.result()"),
    (r"\b(async|await) ", ""),
)
"""What is said otherwise in the documentation, too."""

Method = ast.FunctionDef | ast.AsyncFunctionDef


def faces() -> str:
    """The module's text."""
    imports: dict[str, str] = {}
    classes = [_class(name, imports) for name in _CLASSES]
    body = "\n\n".join(classes)
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    wanted = {
        _HOME: {"consumer", "producer", "share_consumer", "transaction"},
        f"{_HOME}.admin": {"admin"},
        f"{_HOME}.blocking.delivery": {"Deliveries", "Delivery"},
        f"{_HOME}.blocking.face": {"Face", "OnChange", "ReadingFace", "in_caller", "subject_of"},
    }
    for name in used & imports.keys():
        wanted.setdefault(imports[name], set()).add(name)
    for_types = {home: wanted.pop(home) for home in _FOR_TYPES if home in wanted}
    wanted["typing"].add("TYPE_CHECKING")
    lines = [*_import_lines(wanted), "", "if TYPE_CHECKING:"]
    lines += (f"    {line}" for line in _import_lines(for_types))
    return _HEAD + "\n".join(lines) + "\n\n\n" + body


def _import_lines(wanted: dict[str, set[str]]) -> list[str]:
    return [f"from {home} import {', '.join(sorted(wanted[home]))}" for home in sorted(wanted)]


def _tree(module: str) -> ast.Module:
    path = FOLDER / (module.replace(".", "/") + ".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def _class(name: str, imports: dict[str, str]) -> str:
    base, modules = _CLASSES[name]
    methods: dict[str, Method] = {}
    about = ""
    for module in modules:
        tree = _tree(module)
        _note_names(tree, f"{_HOME}.{module}", imports)
        node = _class_of(tree, module)
        about = ast.get_docstring(node) or about
        for each in node.body:
            if isinstance(each, Method) and each.name not in _LEFT_OUT:
                methods[each.name] = each
        methods |= _borrowed(node)
    home = f"{modules[-1].split('.')[-1]}.{name}"
    lines = [f"class {name}({base.format(home)}):"]
    lines += _text(about, "    ")
    for each in methods.values():
        if name == "Transaction" and each.name == "__init__":
            continue  # A producer makes it.
        if not each.name.startswith("_") or each.name in {"__init__", "__aenter__", "__aexit__"}:
            lines += ["", *_method(each, name, home)]
    return "\n".join([*lines, ""])


def _class_of(tree: ast.Module, module: str) -> ast.ClassDef:
    wanted = {
        "transaction": "Transaction",
        "producer": "Producer",
        "consumer": "Consumer",
        "share_consumer": "ShareConsumer",
    }
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and wanted.get(module, node.name) == node.name:
            return node
    raise AssertionError(f"{module} has no class")


def _borrowed(node: ast.ClassDef) -> dict[str, Method]:
    """``self.send = producer.send``: methods that an object has of its producer."""
    found = re.findall(r"self\.(\w+) = producer\.(\w+)", ast.unparse(node))
    if not found:
        return {}
    methods = {
        each.name: each
        for module in _CLASSES["Producer"][1]
        for each in _class_of(_tree(module), module).body
        if isinstance(each, Method)
    }
    return {name: methods[of] for name, of in found}


def _note_names(tree: ast.Module, home: str, imports: dict[str, str]) -> None:
    """Where the names in signatures come from: imports, and constants of the module's own."""
    of_types = [each for node in tree.body if isinstance(node, ast.If) for each in node.body]
    for node in [*tree.body, *of_types]:
        if isinstance(node, ast.ImportFrom):
            for each in node.names:
                if each.name not in _OF_OUR_OWN and node.module is not None:
                    imports[each.name] = node.module
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            imports[node.target.id] = home


def _method(node: Method, owner: str, home: str) -> list[str]:
    is_async = isinstance(node, ast.AsyncFunctionDef)
    marks = [each.id for each in node.decorator_list if isinstance(each, ast.Name)]
    name = {"__aenter__": "__enter__", "__aexit__": "__exit__"}.get(node.name, node.name)
    returned = "None" if node.returns is None else ast.unparse(node.returns)
    lines = [f"    @{mark}" for mark in marks]
    lines.append(f"    def {name}({ast.unparse(node.args)}) -> {returned}:")
    lines += _text(ast.get_docstring(node), "        ")
    given = _given(node.args)
    subject = f"self._subject.{node.name}"
    if node.name == "__init__":
        did = [f"self._subject = {home}({given})", "self._portal = None"]
    elif "classmethod" in marks:
        did = [f"return cls._around({home}.{node.name}({given}))"]
    elif "property" in marks:
        did = [f"return {subject}"]
    elif owner != "Transaction" and node.name == "__aenter__":
        did = ["self.start()", "return self"]
    elif returned == "Self":
        did = [f"self._wait({subject})", "return self"]
    elif owner != "Transaction" and node.name == "start":
        did = [f"self._begin({subject})"]
    elif owner != "Transaction" and node.name in {"close", "__aexit__"}:
        did = [f"self._end({', '.join(filter(None, [subject, given]))})"]
    else:
        call = f"self.{'_wait' if is_async else '_do'}({', '.join(filter(None, [subject, given]))})"
        did = [_wrapped(call, returned)]
    return lines + [f"        {line}" for line in did]


def _wrapped(call: str, returned: str) -> str:
    if returned == "None":
        return call
    if returned == "Transaction":
        return f"return Transaction._around({call}, self._reach())"
    if returned in _OF_OUR_OWN:
        return f"return {returned}({call}, self._reach())"
    return f"return {call}"


def _given(arguments: ast.arguments) -> str:
    """The arguments, handed on as they came."""
    given = [_value(each) for each in arguments.args[1:]]
    if arguments.vararg is not None:
        given.append(f"*{arguments.vararg.arg}")
    given += [f"{each.arg}={_value(each)}" for each in arguments.kwonlyargs]
    if arguments.kwarg is not None:
        given.append(f"**{arguments.kwarg.arg}")
    return ", ".join(given)


def _value(argument: ast.arg) -> str:
    kind = "" if argument.annotation is None else ast.unparse(argument.annotation)
    if kind == "GroupMember":
        return f"subject_of({argument.arg})"
    return f"in_caller({argument.arg})" if "OnChange" in kind else argument.arg


def _text(about: str | None, indent: str) -> list[str]:
    if not about:
        return []
    for pattern, instead in _TEXTS:
        about = re.sub(pattern, instead, about)
    first, *more = about.split("\n")
    lines = [f'{indent}"""{first}', *(f"{indent}{line}".rstrip() for line in more)]
    if not more:
        return [lines[0] + '"""']
    return [*lines, f'{indent}"""']


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog=f"python -m {_HOME}.blocking.codegen")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 on a difference")
    options = parser.parse_args(arguments)
    text = faces()
    if not options.check:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        sys.stderr.write(f"{TARGET} is not what the asyncio classes say: run `make codegen`\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

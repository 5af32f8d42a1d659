"""The client's names are imported when they are asked for, from where type checkers look."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import fencepost_client
import pytest


def test_each_name_comes_from_where_type_checkers_look_for_it() -> None:
    tree = ast.parse(Path(fencepost_client.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    checked = {alias.name: node.module for node in imports for alias in node.names}
    assert checked == fencepost_client._HOME_OF, "edit _HOMES where the imports are"
    assert sorted(checked) == sorted(fencepost_client.__all__), "edit __all__, too"


def test_every_name_is_there() -> None:
    for name in fencepost_client.__all__:
        assert getattr(fencepost_client, name).__doc__ is not None, name
    assert dir(fencepost_client) == sorted(fencepost_client.__all__)
    with pytest.raises(AttributeError, match="Prodcuer"):
        fencepost_client.Prodcuer  # noqa: B018


def test_who_produces_does_not_import_the_admin() -> None:
    script = """if True:
        import sys, fencepost_client
        assert not [name for name in sys.modules if "generated" in name], "nothing was asked for"
        from fencepost_client import Producer
        print(*sys.modules)
    """
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert "fencepost_client.clients.producer" in loaded
    assert "fencepost_client.clients.consumer" not in loaded
    assert not [name for name in loaded if name.startswith("fencepost_client.admin")]

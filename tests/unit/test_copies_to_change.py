"""The copy of a data directory that the console looks at: the directory may be for reading only."""

from __future__ import annotations

import re
import stat
import sys
from pathlib import Path

import pytest
from fencepost_broker.server.offline import copy_to_change
from fencepost_broker.storage.log import StorageError


@pytest.mark.skipif(sys.platform == "win32", reason="has no such modes")
def test_the_copy_can_be_written_where_the_directory_cannot(tmp_path: Path) -> None:
    data = tmp_path / "data"
    folder = data / "orders-0"
    folder.mkdir(parents=True)
    for file in (data / ".lock", folder / "0.log"):
        file.write_bytes(b"x")
        file.chmod(0o440)
    folder.chmod(0o550)
    data.chmod(0o550)
    copy = tmp_path / "copy"
    copy_to_change(data, copy)
    modes = {
        str(each.relative_to(tmp_path)): stat.S_IMODE(each.stat().st_mode)
        for each in (copy, *copy.rglob("*"))
    }
    assert modes == {
        "copy": 0o750, "copy/.lock": 0o640, "copy/orders-0": 0o750, "copy/orders-0/0.log": 0o640,
    }  # fmt: skip
    assert stat.S_IMODE(data.stat().st_mode) == 0o550


@pytest.mark.parametrize(("names", "told"), [("a", ""), ("ab", " (and 1 more)")])
def test_what_cannot_be_copied_is_told_in_words(names: str, told: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for name in names:
        (data / name).symlink_to(tmp_path / "none")
    link = rf"{re.escape(str(data))}/[ab]"
    with pytest.raises(
        StorageError, match=rf"^cannot copy {link}: No such file or directory{re.escape(told)}$"
    ):
        copy_to_change(data, tmp_path / "copy")

"""The run directory that a user has without asking: nobody else may have made it."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
from fencepost_broker.cli.cluster.control_socket import run_dir_of
from fencepost_client.commands.errors import NotDoneError


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"fencepost-{os.getuid()}"


def test_it_is_made_for_its_user_alone_and_found_again(path: Path) -> None:
    assert run_dir_of(None) == path
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert run_dir_of(None) == path


def test_one_that_others_may_use_is_refused(path: Path) -> None:
    path.mkdir(mode=0o700)
    path.chmod(0o750)
    with pytest.raises(NotDoneError, match=r"others may use it .its mode is 750, not 700"):
        run_dir_of(None)


def test_one_of_another_user_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.mkdir(mode=0o700)
    other = os.getuid() + 1
    path.rename(path.with_name(f"fencepost-{other}"))
    monkeypatch.setattr(os, "getuid", lambda: other)
    with pytest.raises(NotDoneError, match=r"it belongs to user .*; remove it, or name another"):
        run_dir_of(None)


@pytest.mark.parametrize("is_file", [False, True])
def test_what_is_no_directory_is_refused(path: Path, is_file: bool, tmp_path: Path) -> None:
    if is_file:
        path.touch(mode=0o600)
    else:
        path.symlink_to(tmp_path)
    with pytest.raises(NotDoneError, match="it is not a directory"):
        run_dir_of(None)


def test_one_that_is_named_is_its_users_business(tmp_path: Path) -> None:
    assert run_dir_of(str(tmp_path / "given")) == tmp_path / "given"

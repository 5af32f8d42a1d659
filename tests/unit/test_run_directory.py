"""The run directory that a user has without asking: nobody else may have made it."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
from fencepost_broker.cli.cluster.control_socket import make_run_dir, run_dir_of
from fencepost_broker.cli.main import main
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


def test_one_that_is_named_is_made_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "dir"
    make_run_dir(path)
    make_run_dir(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("name", "why"), [("file", "it is not a directory"), ("file/below", "Not a directory")]
)
def test_one_that_cannot_be_made_is_refused_by_its_name(
    name: str, why: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotDoneError, match=f"--run-dir {tmp_path / name}: {why}: name a directory"):
        make_run_dir(tmp_path / name)


@pytest.mark.parametrize("may", ["look", "make"])
def test_one_where_the_user_may_not_write_is_refused(
    may: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    if may == "look":  # root may write everywhere
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    else:
        monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(NotDoneError, match=r"you may not write there|Permission denied"):
        make_run_dir(tmp_path / "run")


@pytest.mark.parametrize("more", [[], ["--control", "0"]])
def test_a_cluster_says_so_and_does_not_start(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file"
    path.touch()
    assert main(["up", "--brokers", "1", "--run-dir", str(path), *more]) == 2
    assert capsys.readouterr().err.startswith(f"fencepost up: --run-dir {path}: it is not a dir")

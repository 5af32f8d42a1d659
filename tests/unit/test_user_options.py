"""Where ``fencepost up`` has passwords from."""

from __future__ import annotations

import argparse
import stat
from pathlib import Path

import pytest
from fencepost_broker.cli.commands.user_options import add_user_options, users_of, write_users


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_user_options(parser)
    return parser.parse_args(words)


def test_passwords_are_given_or_in_the_environment_or_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "users"
    file.write_text("carol:a:b c\n\ndave: d\n", encoding="utf-8")
    given = options("--user", "alice:x:y", "--user", "bob-1", "--users-file", str(file))
    assert users_of(given, {"FENCEPOST_PASSWORD_BOB_1": "secret"}) == {
        "alice": "x:y",
        "bob-1": "secret",
        "carol": "a:b c",
        "dave": " d",
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--user", "alice"], "--user alice: the password is missing.*FENCEPOST_PASSWORD_ALICE"),
        (["--user", ":x"], "--user: the name is missing: write NAME:PASSWORD"),
        (["--user", ""], "--user: the name is missing"),
        (["--user", "a:"], "--user a: the password is missing"),
        (["--user", "a:x", "--user", "a:y"], "--user a: user a is given twice"),
        (["--users-file", "/no/such"], "--users-file /no/such: No such file"),
    ],
)
def test_what_is_wrong_is_told(words: list[str], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        users_of(options(*words), {})


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"a:x\nsecret\n", "line 2: it must be NAME:PASSWORD"), (b"\xff", "not UTF-8 text")],
)
def test_a_broken_file_is_told_without_what_is_in_it(
    content: bytes, told: str, tmp_path: Path
) -> None:
    file = tmp_path / "users"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=told) as caught:
        users_of(options("--users-file", str(file)), {})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("content", ["", " \n\n"])
@pytest.mark.parametrize("others", [[], ["--user", "alice:x"]])
def test_a_file_without_users_does_not_open_the_broker(
    content: str, others: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "users"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=f"--users-file {file}: there are no users in it"):
        users_of(options("--users-file", str(file), *others), {})


def test_a_file_that_is_written_is_for_this_user_alone(tmp_path: Path) -> None:
    file = tmp_path / "users"
    write_users({"alice": "x:y", "bob": "z"}, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert users_of(options("--users-file", str(file)), {}) == {"alice": "x:y", "bob": "z"}

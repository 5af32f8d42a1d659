"""What a stranger reads who gets a command wrong: the command's own usage, and what was meant."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from fencepost_broker.cli import main as cli
from fencepost_protocol.commands import Command

NOBODY = "127.0.0.1:1"
WRONG: list[tuple[str, str]] = [
    ("", "usage: fencepost [-h] [--version] COMMAND ..."),
    ("upp", "there is no 'upp'; did you mean up? There are audit, bench, broker, "),
    ("topics craete x", "there is no 'craete'; did you mean create? There are list, describe, "),
    ("cluster", "usage: fencepost cluster [-h] {{status}} ..."),
    ("producer-ids", "usage: fencepost producer-ids [-h] {{history}} ..."),
    ("up --prot 9092", "fencepost up: error: there is no option --prot; did you mean --port?"),
    ("up --prot=9092", "fencepost up: error: there is no option --prot; did you mean --port?"),
    ("up --colour", "fencepost up: error: there is no option --colour\n"),
    ("up 9092", "fencepost up: error: '9092' is one argument too many"),
    ("topics list --bootstap x", "fencepost topics list: error: there is no option --bootstap; "),
    ("bench consumer --tpic t", "bench consumer: error: the following arguments are required"),
    ("up --port -5", "argument --port: '-5' is not a port: 0 to 65535"),
    ("up --port 70000", "argument --port: '70000' is not a port: 0 to 65535"),
    ("up --port abc", "argument --port: 'abc' is not a port: 0 to 65535"),
    ("up --brokers x", "argument --brokers: 'x' is not a number of brokers: 1 to 999"),
    ("up --brokers 0", "argument --brokers: '0' is not a number of brokers: 1 to 999"),
    ("up --brokers 1000", "'1000' is not a number of brokers: 1 to 999"),
    ("up --ready-fd 99999", "argument --ready-fd: 99999 is not an open file descriptor"),
    ("up --ready-fd x", "argument --ready-fd: 'x' is not a file descriptor"),
    ("up --ready-fd 1", "--ready-fd: '1' is not a file descriptor above 2"),
    ("up --ready-fd {read_end}", "argument --ready-fd: {read_end} is not open for writing"),
    ("up --pid-file none/pid", "--pid-file none/pid: there is no directory none"),
    ("up --log-level inof", "argument --log-level: there is no 'inof'; did you mean info? There"),
    ("up --host a/b --port 0", "argument --host: 'a/b': it must be a name or an address, without"),
    ("up --host localhost:9092", "argument --host: 'localhost:9092': it must be a name or an "),
    ("broker kill one", "argument ID: 'one' is not a broker's number: 0 to "),
    ("tap --count x", "argument --count: 'x' is not a count: 1 to "),
    ("tap --count -1", "argument --count: '-1' is not a count: 1 to "),
    ("tap --count 0", "argument --count: '0' is not a count: 1 to "),
    ("simulate --program transactions --seeds 0", "'0' is not a number of seeds: 1 to "),
    ("simulate --program transactions --seeds -1", "'-1' is not a number of seeds: 1 to "),
    ("tap --snap x", "argument --snap: 'x' is not a size: 0 to "),
    ("up --tls-cert none.pem", "--tls-cert none.pem needs the certificate's key: --tls-key FILE"),
    ("up --tls-cert x --tls-key y", "--tls-cert x: cannot be read: No such file or directory"),
    ("up --config none", "fencepost up: none cannot be read: No such file or directory"),
    ("up --import-producer-id-block none", "--import-producer-id-block none: there is no such"),
    ("up -c num.partitons=3", "there is no setting num.partitons; did you mean num.partitions?"),
    ("up --topic a/b", "fencepost up: --topic a/b: 'a/b' has '/' in it: a topic's name is "),
    ("up --topic a:0", "fencepost up: topic 'a:0': partitions must be 1 to "),
    ("up --data-dir=", "fencepost up: --data-dir is empty: name a directory"),
    ("--port 9092 up", "fencepost: error: the command comes first: fencepost COMMAND --port"),
    ("up --combined", "--combined needs --brokers N"),
    ("up --run-dir none", "--run-dir needs --brokers N"),
    ("up --control-token-file none", "--control-token-file none needs --control [HOST:]PORT"),
    ("up --brokers 1 --control-token-file none", "none needs --control [HOST:]PORT"),
    ("proxy --upstream a:1 --control-token-file none", "fencepost proxy: --control-token-file none "
     "needs --control"),
    ("up --recover-metadata", "--recover-metadata needs --data-dir DIR"),
    ("up --brokers 1 --recover-metadata", "--recover-metadata needs --data-dir DIR"),
    ("up --topic a --topic a:3", "fencepost up: topic 'a:3': a is given twice, and not alike"),
    ("up --tls-cert {empty} --tls-key {empty}", "--tls-cert {empty}: the file is empty"),
    ("up --brokers 1 --tls-cert {empty} --tls-key {empty}", "{empty}: the file is empty"),
    ("up --user alice", "--user alice: the password is missing"),
    ("config --config none", "fencepost config: none cannot be read: No such file or directory"),
    ("topics list -F none", "topics list: --command-config none: No such file or directory"),
    ("topics list --timeout 0", "argument --timeout: '0': use a number of seconds above 0"),
    ("topics create t --partitions 0", "argument --partitions: '0' is not a count: 1 to "),
    ("topics create t --config x", "argument --config: 'x': use NAME=VALUE"),
    ("produce -t t --file none", "fencepost produce: --file none: No such file or directory"),
    ("produce -t t --file .", "fencepost produce: --file .: Is a directory"),
    ("produce -t t -z brotli", "-z/--compression: there is no 'brotli'; there are none, gzip, "),
    ("consume -t t -o bad", "'bad': use beginning, end, OFFSET, -N or s@TIME"),
    ("consume", "one of the arguments -t/--topic --regex is required"),
    ("bench consumer --topic t --num-records 1 --consumer-config none",
     "bench consumer: --consumer-config none: No such file or directory"),
    ("bench producer --topic t --num-records 1 --throughput -1 --payload-file none",
     "bench producer: --payload-file none: No such file or directory"),
    ("groups reset-offsets g --topic t", "one of the arguments --to-earliest --to-latest "),
    ("tap localhost:99999", "localhost:99999: it must be HOST or HOST:PORT, with a port of 1 to "),
    ("tap --api Prduce", "--api Prduce: there is no such API; did you mean Produce?"),
    ("dissect zz", "fencepost dissect: zz is neither a file that is there nor hex digits"),
    ("dissect --response EndTx:3 00", "there is no API 'EndTx'; did you mean EndTxn?"),
    ("dissect --response EndTxn:99 00", "EndTxn has versions 0-5, not 99"),
    ("audit none", "fencepost audit: none cannot be read: No such file or directory"),
    ("audit . --trace none", "fencepost audit: none cannot be read: No such file or directory"),
    ("audit . --group g", "fencepost audit: --group, --input and --output go together"),
    ("producer-ids history none", "producer-ids history: none: there is no such directory"),
    ("configs describe nosuch", "argument KIND: there is no 'nosuch'; "),
]  # fmt: skip


def told(words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    try:
        code = cli.main(words.split())
    except SystemExit as exit_:
        code = int(str(exit_.code))
    out, err = capsys.readouterr()
    assert out == ""
    return code, err


@pytest.mark.parametrize(("words", "said"), WRONG)
def test_the_message_names_what_was_given_and_what_is_meant(
    words: str, said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").touch()
    read_end, write_end = os.pipe()
    there = {"read_end": read_end, "empty": "empty"}
    try:
        code, err = told(words.format_map(there), capsys)
    finally:
        os.close(read_end)
        os.close(write_end)
    assert code == 2
    assert said.format_map(there) in err
    assert "Traceback" not in err


def failing(error: BaseException) -> Command:
    def run(_: object) -> int:
        raise error

    return Command("failing", "fails", lambda parser: None, run)


def test_without_memory_there_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "_wanted", lambda given: [failing(MemoryError())])
    code, err = told("failing", capsys)
    assert code == 71
    assert err.startswith("fencepost failing: out of memory")
    assert len(err.splitlines()) == 1


def test_a_process_whose_memory_is_too_small_says_so(tmp_path: Path) -> None:
    digits = tmp_path / "digits"
    digits.write_bytes(b"a" * (64 << 20))
    limit = 150 << 20
    resource = pytest.importorskip("resource", reason="Windows has no limits")
    done = subprocess.run(
        [sys.executable, "-m", "fencepost_broker", "dissect", "--records", str(digits)],
        capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (71, "")
    assert done.stderr.startswith("fencepost dissect: out of memory: ")


def test_a_fault_of_ours_is_no_verdict(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "_wanted", lambda given: [failing(ZeroDivisionError("by 0"))])
    code, err = told("failing", capsys)
    assert code == 70
    assert "Traceback" in err
    assert "please report" in err.splitlines()[-1]


def parsers() -> Iterator[argparse.ArgumentParser]:
    """Those of all commands, and of their subcommands."""
    waiting: list[argparse.ArgumentParser] = [
        cli.make_parser(each.load() for each in entry_points(group=cli.GROUP))
    ]
    for parser in waiting:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                waiting += action.choices.values()
        yield parser


def test_all_commands_show_how_to_use_them() -> None:
    helps = {each.prog: each.format_help() for each in parsers()}
    assert len(helps) > 40
    # Options of a command may come before the name of its subcommand.
    shown = {name: re.escape(name).replace("\\ ", " (?:-.* )?") for name in helps}
    without = [
        name for name, text in helps.items() if not re.search(f"examples:\n  {shown[name]}", text)
    ]
    assert not without


def test_all_commands_that_ask_a_cluster_take_b() -> None:
    without = [
        each.prog
        for each in parsers()
        if "--bootstrap" in (text := each.format_help()) and "-b HOST:PORT" not in text
    ]
    assert not without

"""The generated package is what the schemas say, and the command notices when it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_protocol.codegen.__main__ import differences, generate, main, write
from fencepost_protocol.codegen.module import emit_module
from fencepost_protocol.schema import files
from fencepost_protocol.schema.parse import SchemaError, parse_message


def test_the_committed_code_is_up_to_date() -> None:
    assert differences(generate()) == []


def test_missing_changed_and_orphaned_modules_are_named(tmp_path: Path) -> None:
    texts = generate()
    write(texts, tmp_path)
    assert differences(texts, tmp_path) == []
    (tmp_path / "end_txn.py").unlink()
    (tmp_path / "fetch.py").write_text("changed")
    (tmp_path / "orphan.py").write_text("left over")
    assert differences(texts, tmp_path) == [
        "end_txn.py is missing",
        "fetch.py is not what the schemas generate",
        "orphan.py has no schema",
    ]
    write(texts, tmp_path)
    assert differences(texts, tmp_path) == []


def test_the_check_tells_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--check"]) == 0
    monkeypatch.setattr(
        "fencepost_protocol.codegen.__main__.differences", lambda texts: ["fetch.py is missing"]
    )
    assert main(["--check"]) == 1
    assert "run `make codegen`" in capsys.readouterr().err


def test_a_broken_schema_is_reported_not_raised(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> dict[str, str]:
        raise SchemaError("messages/X.json: Name: unknown attribute 'colour'")

    monkeypatch.setattr("fencepost_protocol.codegen.__main__.generate", broken)
    assert main([]) == 1
    assert capsys.readouterr().err == "messages/X.json: Name: unknown attribute 'colour'\n"


def test_a_struct_that_request_and_response_define_differently_gets_two_names() -> None:
    request, response = files.load("AlterPartitionRequest"), files.load("AlterPartitionResponse")
    text = emit_module([request, response])
    assert "class AlterPartitionRequestTopicData(Fields):" in text
    assert "class AlterPartitionResponseTopicData(Fields):" in text
    assert "class TopicData" not in text


def test_the_header_names_source_and_hash() -> None:
    message = files.load("EndTxnRequest")
    first = emit_module([message]).splitlines()[0]
    assert first == (
        f"# Generated from schemas/messages/EndTxnRequest.json (sha256 {message.digest[:16]})"
    )


def test_a_keyword_as_field_name_gets_an_underscore() -> None:
    text = b"""{"type": "data", "name": "Odd", "validVersions": "0", "flexibleVersions": "none",
        "about": "For a test.", "fields": [
        {"name": "From", "type": "int8", "versions": "0+", "about": "Where from."}]}"""
    assert "from_: int = 0" in emit_module([parse_message(text, "records/Odd.json")])

"""The file with ZooKeeper's last block of producer ids."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_broker.controller.producer_id_import import (
    ImportedBlock,
    ImportRefusedError,
    read_block,
)


@pytest.mark.parametrize(
    "text",
    [
        '{"version":1,"broker":3,"block_start":"1000","block_end":"1999"}',
        '{"version":1,"broker":3,"block_start":1000,"block_end":1999}\n',
    ],
)
def test_a_block_as_kafka_wrote_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "block.json"
    path.write_text(text)
    assert read_block(str(path)) == ImportedBlock(3, 1000, 1999)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("\xff", "not JSON"),
        ("[1]", "must be a JSON object"),
        ('{"version":1,"broker":3,"block_start":"0"}', "block_end is missing"),
        (
            '{"version":2,"broker":3,"block_start":"0","block_end":"9"}',
            "version 2 is not supported",
        ),
        ('{"version":1,"broker":-1,"block_start":"0","block_end":"9"}', "broker is -1, not a numb"),
        ('{"version":1,"broker":true,"block_start":"0","block_end":"9"}', "broker is True, not"),
        ('{"version":1,"broker":1,"block_start":"ten","block_end":"9"}', "block_start is 'ten'"),
        ('{"version":1,"broker":1,"block_start":1.5,"block_end":"9"}', "block_start is 1.5, not"),
        ('{"version":1,"broker":1,"block_start":"9","block_end":"8"}', "end 8 is before block_st"),
        ('{"version":1,"broker":1,"block_start":"0","block_end":"9223372036854775808"}', "not a"),
        ('{"a":"' + "x" * 70_000 + '"}', "more than 65536 bytes"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "block.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ImportRefusedError, match=reason) as caught:
        read_block(str(path))
    assert str(caught.value).startswith(f"{path}: ")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ImportRefusedError, match="No such file"):
        read_block(str(tmp_path / "none"))

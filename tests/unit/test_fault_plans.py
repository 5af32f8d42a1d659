"""Files of fault rules that cannot be read: the message names the file and the place."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.faults.plan import read_plan


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"# a plan\n[[fault]]\nname = '\xff'\n", ":3: this is not UTF-8"),
        (b"fault = " + b"[" * 100_000, ": this is nested too deeply"),
        (b"[[fault", ": "),
    ],
)
def test_a_file_that_is_no_plan_is_named(content: bytes, told: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_bytes(content)
    with pytest.raises(RuleError) as caught:
        read_plan(str(file))
    assert str(caught.value).startswith(f"{file}{told}")

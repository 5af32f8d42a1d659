"""Every command is used where installations are tried, although `make test` does not try them."""

from __future__ import annotations

import inspect
import re

from tests.release import every_command


def test_each_command_of_the_table_has_a_use() -> None:
    uses = re.findall(r'\b(?:use|serve)\(\s*f?"([a-z-]+) ', inspect.getsource(every_command))
    assert set(uses) == every_command.names()

"""Rules make of names in certificates what Apache Kafka's SslPrincipalMapper makes of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from fencepost_broker.security.authentication.principal_mapping import parse_rules, user_by_rules

from tests.support.apache_kafka import LIBRARY_DIR, TOOL_JVM_FLAGS, fetch
from tests.support.principal_names import NAMES, RULES

pytestmark = pytest.mark.conformance

PROGRAM = """
import java.io.*;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;
public class Rules {
    public static void main(String[] words) throws Exception {
        int rules = Integer.parseInt(words[0]);
        for (int r = 1; r <= rules; r++) {
            for (int n = rules + 1; n < words.length; n++) {
                String told;
                try {
                    told = SslPrincipalMapper.fromRules(words[r]).getName(words[n]);
                } catch (IOException | IllegalArgumentException error) {
                    told = error instanceof IOException ? "none" : "invalid";
                }
                System.out.println(told);
            }
        }
    }
}
"""


def ours(rules: str, name: str) -> str:
    try:
        parse_rules(rules)
    except ValueError:
        return "invalid"
    return user_by_rules(rules, name) or "none"


def test_users_are_named_as_by_apache_kafka(tmp_path: Path) -> None:
    java = shutil.which("java")
    if java is None:
        pytest.skip("it needs java on the PATH")
    fetch()
    program = tmp_path / "Rules.java"
    program.write_text(PROGRAM)
    words = [str(len(RULES)), *RULES, *NAMES]
    command = [java, *TOOL_JVM_FLAGS, "-cp", f"{LIBRARY_DIR}{os.sep}*", str(program), *words]
    told = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    expected = told.splitlines()
    found = [ours(rules, name) for rules in RULES for name in NAMES]
    asked = [(rules, name) for rules in RULES for name in NAMES]
    assert dict(zip(asked, found, strict=True)) == dict(zip(asked, expected, strict=True))

"""Users by the names in certificates (KIP-371); compared with Kafka's class elsewhere."""

from __future__ import annotations

import pytest
from fencepost_broker.security.authentication.principal_mapping import check_rules, user_by_rules


@pytest.mark.parametrize(
    ("rules", "user"),
    [
        ("DEFAULT", "CN=Alice,OU=Dev"),
        ("RULE:^CN=(.*?),OU=(.*)$/$1@$2/", "Alice@Dev"),
        ("RULE:^CN=(.*?),.*$/$1/L", "alice"),
        ("RULE:^CN=(.*?),.*$/$1/U,DEFAULT", "ALICE"),
        ("RULE:^UID=(.*)$/$1/ , DEFAULT", "CN=Alice,OU=Dev"),
        (r"RULE:^.*$/\$1 \/ $9/", "$1 / $9"),
        ("RULE:^UID=(.*)$/$1/", None),
        ("", None),
    ],
)
def test_the_first_rule_that_matches_names_the_user(rules: str, user: str | None) -> None:
    assert check_rules(rules) is None
    assert user_by_rules(rules, "CN=Alice,OU=Dev") == user


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ("RULE:a", "RULE:a does not begin with"),
        ("DEFAULT, all", "all does not begin with"),
        ("RULE:a/b/X", "does not begin with"),
        ("RULE:CN=(/b/", "CN=( is not a pattern"),
    ],
)
def test_what_is_no_rule_is_refused(rules: str, why: str) -> None:
    assert why in (check_rules(rules) or "")

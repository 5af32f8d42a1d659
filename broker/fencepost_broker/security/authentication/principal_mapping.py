"""Users of TLS clients, from the names in their certificates (KIP-371).

``ssl.principal.mapping.rules`` is a list of rules, of which the first one that matches counts.
``DEFAULT`` is the whole name; ``RULE:pattern/replacement/`` matches the whole name, and makes the
user of it, in lower case with ``L`` at its end, in upper case with ``U``. ``$1`` in a replacement
is the first group of the pattern. Patterns are Python's, which are those of Java for what such
rules need.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

_RULE: Final = re.compile(
    r"(?P<default>DEFAULT)|RULE:(?P<pattern>(?:\\.|[^\\/])*)/(?P<replacement>(?:\\.|[^\\/])*)/"
    r"(?P<case>[LU]?)"
)
_SEPARATOR: Final = re.compile(r"[\s,]*")
_REFERENCE: Final = re.compile(r"\\(.)|\$(\d)(\d*)|\$")


class _Rule(NamedTuple):
    pattern: re.Pattern[str] | None
    """``None``: the whole name is the user."""
    replacement: str
    """As ``re.sub`` takes it."""
    case: str

    def apply(self, name: str) -> str | None:
        """Return the user, or ``None`` if the rule does not match."""
        if self.pattern is None:
            return name
        if not self.pattern.fullmatch(name):
            return None
        user = self.pattern.sub(self.replacement, name)
        return user.lower() if self.case == "L" else user.upper() if self.case == "U" else user


@lru_cache(16)
def parse_rules(text: str) -> tuple[_Rule, ...]:
    """Parse the setting; raises ValueError."""
    rules = []
    at = _end_of_separator(text, 0)
    while at < len(text):
        found = _RULE.match(text, at)
        end = -1 if found is None else _end_of_separator(text, found.end())
        if found is None or end == found.end() < len(text):
            raise ValueError(
                f"{text[at:]:.100} does not begin with DEFAULT or RULE:PATTERN/REPLACEMENT/, and a"
                " comma after it"
            )
        rules.append(_rule(found))
        at = end
    return tuple(rules)


def _end_of_separator(text: str, at: int) -> int:
    found = _SEPARATOR.match(text, at)
    assert found is not None
    return found.end()


def _rule(found: re.Match[str]) -> _Rule:
    if found["default"]:
        return _Rule(None, "", "")
    try:
        pattern = re.compile(found["pattern"])
    except re.error as error:
        raise ValueError(f"{found['pattern']:.100} is not a pattern: {error}") from None
    return _Rule(pattern, _replacement(found["replacement"], pattern.groups), found["case"])


def _replacement(text: str, groups: int) -> str:
    """Return a replacement of Java as one of Python; a reference to no group is a literal text."""

    def convert(found: re.Match[str]) -> str:
        escaped, first, more = found.groups()
        if escaped is not None:
            return escaped if escaped != "\\" else r"\\"
        if first is None or int(first + more) > groups:
            return found[0]
        return rf"\g<{first}{more}>"

    return _REFERENCE.sub(convert, text)


def user_by_rules(text: str, name: str) -> str | None:
    """Return the user whose certificate has a name; ``None`` if no rule matches."""
    users = (rule.apply(name) for rule in parse_rules(text))
    return next((user for user in users if user is not None), None)


def check_rules(text: str) -> str | None:
    """Return what is wrong with the setting, if anything."""
    try:
        parse_rules(text)
    except ValueError as error:
        return str(error)
    return None

"""``sasl.jaas.config``: a login module with its options, in Kafka's format.

Errors contain no part of the text, because it has passwords.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

PLAIN_MODULE: Final = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE: Final = "org.apache.kafka.common.security.scram.ScramLoginModule"
OAUTHBEARER_MODULE: Final = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"

_WHOLE: Final = r"(?s)\s*([\w.]+)\s+required\b(.*?)\s*;\s*"
_OPTION: Final = r'(?s)\s*([\w.$-]+)\s*=\s*"((?:[^"\\]|\\.)*)"\s*'


class LoginModule(NamedTuple):
    """A Java class, which stands for a mechanism, and its options."""

    name: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"<{self.name} with {len(self.options)} options>"


def read_jaas(text: str) -> LoginModule:
    """Read the module and its options; a ``ValueError`` says what is wrong."""
    whole = re.fullmatch(_WHOLE, text)
    if whole is None:
        raise ValueError('the format is `MODULE required name="value" ...;`')
    options: dict[str, str] = {}
    form, position = re.compile(_OPTION), 0
    while position < len(whole[2]):
        option = form.match(whole[2], position)
        if option is None:
            raise ValueError('options have the form name="value"')
        options[option[1]] = re.sub(r"\\(.)", r"\1", option[2], flags=re.DOTALL)
        position = option.end()
    return LoginModule(whole[1], options)


__all__ = ["OAUTHBEARER_MODULE", "PLAIN_MODULE", "SCRAM_MODULE", "LoginModule", "read_jaas"]

"""Rules that name users by certificates, and names in certificates."""

from __future__ import annotations

from typing import Final

NAMES: Final = (
    "CN=Alice,OU=Dev,O=Acme Inc.,C=DE",
    "CN=bob",
    "OU=ServiceUsers,O=Org,CN=kafka",
    "CN=a/b,O=x",
    "UID=u1+CN=Multi,DC=example",
)
RULES: Final = (
    "DEFAULT",
    "",
    r"RULE:^CN=(.*?),OU=(.*?),.*$/$1@$2/L,DEFAULT",
    r"RULE:^CN=(.*?),.*$/$1/U",
    "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L",
    r"RULE:^CN=(.*?)$/$1/ , RULE:^.*CN=(.*?)$/other-$1/,DEFAULT",
    r"RULE:CN=(\w+)/$1-$2/,DEFAULT",
    r"RULE:^CN=a\/b,(.*)$/\$1 \\ $1/,RULE:.*/x/",
    r"RULE:(.*)=(.*)/$2$1/",
    "RULE:^CN=(.*?),.*$/$1",
    "RULE:^CN=(.*?),.*$/$1/X,DEFAULT",
    "default",
    "DEFAULT/DEFAULT",
    "RULE:a",
    "RULE:CN=(/$1/",
)
"""The last ones are not rules."""

"""``api.versions.max``: upper limits for versions of APIs."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.apis import Api
from fencepost_protocol.generated.index import APIS

from fencepost_broker.config.errors import nearest

_KEYS: Final = {name.lower(): key for key, (name, *_) in APIS.items()}


def parse_version_caps(words: tuple[str, ...]) -> dict[int, int]:
    """Return the highest version by API key; raises ValueError."""
    caps: dict[int, int] = {}
    for word in words:
        name, colon, version = word.partition(":")
        if not (name and colon and version.isascii() and version.isdigit()):
            raise ValueError(f"{word} is not of the form API:VERSION")
        api = _api(name)
        if api.key in caps:
            raise ValueError(f"{api.name} is given twice")
        # Below the lowest there is no layout to answer in; Produce is told lower than it is read.
        low, high = api.min_version, api.advertised[1]
        if len(version) > len(str(high)) or not low <= int(version) <= high:
            raise ValueError(f"{word}: {api.name} has versions {low} to {high}")
        caps[api.key] = int(version)
    return caps


def check_version_caps(words: tuple[str, ...]) -> str | None:
    """Return what is wrong with the first invalid word, or ``None``."""
    try:
        parse_version_caps(words)
    except ValueError as error:
        return str(error)
    return None


def _api(name: str) -> Api:
    key = _KEYS.get(name.lower())
    if key is None:
        near = nearest(name, _KEYS)
        hint = f"; did you mean {APIS[_KEYS[near]][0]}?" if near else ""
        raise ValueError(f"there is no API {name}{hint}")
    api = Api.of(key)
    assert api is not None
    return api

"""IP addresses as Java reads them in the names of quotas."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from typing import Final

_NUMBERS: Final = re.compile(r"\d{1,10}(?:\.\d{1,10}){0,3}", re.ASCII)
_IN_BRACKETS: Final = re.compile(r"\[(.*:.*)\]|(.*:.*)")


def read_address(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a text means, or ``None``; localhost is the only host name.

    The last number of an IPv4 address may stand for several: 127.1 is 127.0.0.1. An IPv6 address
    may have brackets, and its scope does not count.
    """
    if text.lower() == "localhost":
        return IPv4Address("127.0.0.1")
    if _NUMBERS.fullmatch(text):
        *first, last = map(int, text.split("."))
        bits = 32 - 8 * len(first)
        if any(each > 255 for each in first) or last >> bits:
            return None
        return IPv4Address(int.from_bytes(bytes(first)) << bits | last)
    found = _IN_BRACKETS.fullmatch(text)
    if found is None:
        return None
    try:
        address = IPv6Address((found[1] or found[2]).partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address

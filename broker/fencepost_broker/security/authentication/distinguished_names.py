"""Names in certificates, as Kafka's brokers write them: RFC 2253, the last part first.

Behaviour: as Java's ``X500Principal.getName``. An attribute without a short name (such as an e-mail
address) is written as its object identifier and its encoded value in hexadecimal digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

_SHORT_NAMES: Final = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
_CODECS: Final = {
    0x0C: "utf-8",
    0x13: "ascii",
    0x14: "latin-1",
    0x16: "ascii",
    0x1B: "ascii",
    0x1E: "utf-16-be",
}
"""String types: UTF8String, PrintableString, T61String, IA5String, GeneralString, BMPString."""
_VERSION: Final = 0xA0
_UTC_TIME: Final = 0x17
_LONG: Final = 0x80
_ESCAPED: Final = frozenset(',=+"\\<>;')


class _Value(NamedTuple):
    tag: int
    content: bytes
    whole: bytes


def subject_of(certificate: bytes) -> str:
    """Return the subject of an encoded certificate that was verified before."""
    subject = _fields(certificate)[4]  # after number, algorithm, issuer and dates
    return ",".join(reversed([_part(each.content) for each in _values(subject.content)]))


def dates_of(certificate: bytes) -> tuple[datetime, datetime]:
    """Return the validity of an encoded certificate; raises ValueError if it is unclear."""
    begin, end = _values(_fields(certificate)[3].content)
    return _moment(begin), _moment(end)


def _fields(certificate: bytes) -> list[_Value]:
    [whole] = _values(certificate)
    signed, *_ = _values(whole.content)
    fields = list(_values(signed.content))
    if fields[0].tag == _VERSION:
        del fields[0]
    return fields


def _moment(value: _Value) -> datetime:
    text = value.content.decode("ascii")
    if value.tag == _UTC_TIME:  # two digits of the year: 1950 to 2049 (RFC 5280)
        text = ("19" if text >= "50" else "20") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _part(content: bytes) -> str:
    return "+".join(_attribute(*_values(each.content)) for each in _values(content))


def _attribute(kind: _Value, value: _Value) -> str:
    identifier = _identifier(kind.content)
    name = _SHORT_NAMES.get(identifier)
    codec = _CODECS.get(value.tag)
    if name is None or codec is None:
        return f"{name or identifier}=#{value.whole.hex()}"
    return f"{name}={_escaped(value.content.decode(codec, 'replace'))}"


def _escaped(text: str) -> str:
    found = [f"\\{each}" if each in _ESCAPED else each for each in text]
    blanks = len(text) - len(text.lstrip(" "))
    for position in (*range(blanks), *range(len(text.rstrip(" ")), len(text))):
        found[position] = "\\ "
    if text.startswith("#"):
        found[0] = "\\#"
    return "".join(found)


def _identifier(content: bytes) -> str:
    numbers: list[int] = []
    number = 0
    for byte in content:
        number = number << 7 | byte & 0x7F
        if not byte & _LONG:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def _values(data: bytes) -> Iterator[_Value]:
    """Yield encoded values that follow one another."""
    position = 0
    while position < len(data):
        tag, length, start = data[position], data[position + 1], position + 2
        if length & _LONG:
            size = length & 0x7F
            length = int.from_bytes(data[start : start + size], "big")
            start += size
        yield _Value(tag, data[start : start + length], data[position : start + length])
        position = start + length

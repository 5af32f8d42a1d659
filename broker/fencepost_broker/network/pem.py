"""Loading of PEM certificates and keys, with error messages that say what is wrong."""

from __future__ import annotations

import re
import ssl
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from fencepost_broker.config.tables.security import HOW_TO_CONVERT
from fencepost_broker.security.authentication.distinguished_names import dates_of

_BLOCK: Final = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_CERTIFICATES: Final = re.compile(
    r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL
)
_LINE: Final = 64
_STORES: Final = {b"\xfe\xed\xfe\xed": "JKS", b"0\x82": "PKCS12 or DER"}


class Wrong(NamedTuple):
    """An error in a certificate or in its key."""

    is_key: bool
    """Whether the error is in the key rather than in the certificate."""
    reason: str


def load_pair(
    context: ssl.SSLContext, chain: str, key: str, password: str | None, file: str | None
) -> Wrong | None:
    """Load a certificate and its key into a context; return what is wrong, if anything.

    ``file`` is the path if both come from a file.
    """
    if "-----BEGIN CERTIFICATE-----" not in chain:
        return Wrong(False, "there is no certificate in it (-----BEGIN CERTIFICATE-----)")
    if "PRIVATE KEY-----" not in key:
        return Wrong(True, "there is no private key in it (-----BEGIN PRIVATE KEY-----)")
    is_encrypted = "ENCRYPTED" in key
    if is_encrypted and not password:
        return Wrong(True, "the private key is encrypted: ssl.key.password has to be its password")
    try:
        # Without a password OpenSSL would prompt at the terminal.
        if file is not None:
            context.load_cert_chain(file, password=password or "")
            return None
        # OpenSSL reads files only; this one is readable for its owner only, and deleted at once.
        with tempfile.TemporaryDirectory(prefix="fencepost-") as folder:
            path = Path(folder) / "certificate.pem"
            path.write_text(f"{in_lines(key)}\n{in_lines(chain)}\n", encoding="utf-8")
            context.load_cert_chain(path, password=password or "")
    except ssl.SSLError as error:
        return _what_is_wrong(error, chain, is_encrypted=is_encrypted)
    return None


def _what_is_wrong(error: ssl.SSLError, chain: str, *, is_encrypted: bool) -> Wrong:
    reason = reason_of(error)
    if "key values mismatch" in reason:
        return Wrong(True, "the private key is not that of the (first) certificate")
    if refused := trust(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), chain):
        return Wrong(False, f"the certificate is damaged ({refused})")
    if is_encrypted:
        return Wrong(True, f"ssl.key.password does not open the private key ({reason})")
    return Wrong(True, f"the certificate or the private key cannot be used ({reason})")


def trust(context: ssl.SSLContext, certificates: str) -> str:
    """Make a context trust these certificates; return what is wrong, or ``""``."""
    found = _CERTIFICATES.findall(in_lines(certificates))
    if not found:
        return "there is no certificate in it (-----BEGIN CERTIFICATE-----)"
    try:
        context.load_verify_locations(cadata="\n".join(found))
    except ssl.SSLError as error:
        return reason_of(error)
    except ValueError as error:
        return str(error)
    return ""


def reason_of(error: ssl.SSLError) -> str:
    """Return OpenSSL's reason in lower case, without its source location."""
    reason = error.reason or re.sub(r"\s*\(_?ssl\.c:\d+\)", "", str(error))
    return reason.replace("_", " ").lower()


def read(path: str, named: str, make_error: Callable[[str], Exception]) -> str:
    """Return the text of a PEM file; errors begin with ``named``."""

    def wrong(reason: str) -> Exception:
        return make_error(f"{named}: {reason}")

    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise wrong(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    for magic, kind in _STORES.items():
        if content.startswith(magic):
            raise wrong(f"it is {kind}, but only PEM is supported. {HOW_TO_CONVERT}")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise wrong("it is not text, so it is not PEM") from None


def validity(chain: str) -> tuple[datetime, datetime] | None:
    """Return the validity of the first certificate; ``None`` if it cannot be read."""
    with suppress(ValueError, IndexError):
        [first, *_] = _CERTIFICATES.findall(in_lines(chain))
        return dates_of(ssl.PEM_cert_to_DER_cert(first))
    return None


def in_lines(text: str) -> str:
    """Restore the line breaks of PEM that is in one line, as in properties files."""

    def block(match: re.Match[str]) -> str:
        kind, content = match[1], match[2]
        if ":" in content:
            return match[0]  # it has headers
        letters = "".join(content.split())
        lines = [letters[at : at + _LINE] for at in range(0, len(letters), _LINE)]
        return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""])

    return _BLOCK.sub(block, text)

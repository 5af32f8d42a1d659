"""The SSL contexts of a proxy: towards clients, and towards the upstream brokers."""

from __future__ import annotations

import ssl

from fencepost_broker.network import pem


def client_context(certificate: str, key: str) -> ssl.SSLContext:
    """Return the context for clients, from two PEM files; raises ValueError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    chain, private = (pem.read(each, each, ValueError) for each in (certificate, key))
    wrong = pem.load_pair(context, chain, private, None, None)
    if wrong is not None:
        raise ValueError(f"{key if wrong.is_key else certificate}: {wrong.reason}")
    return context


def upstream_context(authorities: str | None) -> ssl.SSLContext:
    """Return the context for upstream brokers; ``authorities`` is a PEM file of trusted ones."""
    if authorities is None:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if reason := pem.trust(context, pem.read(authorities, authorities, ValueError)):
        raise ValueError(f"{authorities}: {reason}")
    return context

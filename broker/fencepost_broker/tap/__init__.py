"""Watching a broker: what travels between it and ``fencepost tap``, and who may watch.

``datagrams`` is the format, ``leases`` the broker's side; both are pure. ``adapters/tap.py`` holds
the socket, ``adapters/tap_client.py`` the subscriber's. ``summary`` makes lines of what arrives.
"""

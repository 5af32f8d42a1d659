"""Watching a broker: what travels between it and ``fencepost tap``, and who may watch.

``datagrams`` is the format and ``leases`` the broker's side; both are pure. ``client`` and
``screen`` are the subscriber's side. ``summary`` makes lines of what arrives. The broker's socket
is in ``network/tap``.
"""

"""The tap: events about a broker's traffic, for ``fencepost tap``.

``datagrams`` is the format and ``leases`` the broker's side; both are pure. ``client`` and
``screen`` are the subscriber's side. ``summary`` makes lines of events. The broker's socket is in
``network/tap``.
"""

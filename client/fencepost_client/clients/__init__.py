"""``Producer``, ``Consumer`` and ``Admin`` for asyncio, and the loops that drive the pure parts."""

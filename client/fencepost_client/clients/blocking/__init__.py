"""The blocking face: the asyncio classes, driven from other threads through a portal."""

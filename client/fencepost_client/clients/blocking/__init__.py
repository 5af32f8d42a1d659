"""The classes of ``fencepost_client.blocking``: asyncio classes, called through a portal."""

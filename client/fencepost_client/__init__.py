"""The asyncio client SDK. Nothing of it is written yet."""

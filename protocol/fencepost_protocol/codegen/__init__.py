"""Turns the schemas into typed straight-line Python; run with ``python -m``."""

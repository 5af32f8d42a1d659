"""``Admin``: what changes and describes a cluster."""

from fencepost_client.adapters.admin.admin import Admin

__all__ = ["Admin"]

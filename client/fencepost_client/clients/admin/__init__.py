"""``Admin``: describes and changes a cluster."""

from fencepost_client.clients.admin.admin import Admin

__all__ = ["Admin"]

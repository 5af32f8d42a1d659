"""Families of routes: each module has handlers, their types, and ``ROUTES``."""

"""Committed offsets of members, of consumers without group management, and of transactions."""

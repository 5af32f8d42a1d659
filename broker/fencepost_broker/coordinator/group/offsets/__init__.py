"""Committed offsets: of members, of stand-alone consumers, and of transactions."""

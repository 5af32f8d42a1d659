"""Recordings of what clients sent and were answered, in files."""

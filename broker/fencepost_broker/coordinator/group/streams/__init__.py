"""Streams groups (KIP-1071): members with a topology, which get tasks."""

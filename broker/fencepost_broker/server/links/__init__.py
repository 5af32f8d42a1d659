"""Connections of this process to the other processes of its cluster."""

"""Connections of this process to other processes of its cluster."""

"""Logs, metrics, events and the tap of a broker."""

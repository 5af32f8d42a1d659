"""Brokers and clusters inside Python programs: options, snapshots, and reports for tests."""

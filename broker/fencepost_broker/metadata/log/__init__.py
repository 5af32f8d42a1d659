"""The metadata log on a disk: its records, its snapshots, and how brokers follow it."""

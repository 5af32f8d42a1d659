"""What a broker tells of itself: logs, metrics, events, the tap."""

"""Classic groups: the members choose a leader, and the leader spreads the partitions."""

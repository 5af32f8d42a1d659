"""Classic groups: one member is the leader and assigns the partitions."""

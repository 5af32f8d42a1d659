"""Consumer groups (KIP-848): the broker spreads the partitions, and each member follows."""

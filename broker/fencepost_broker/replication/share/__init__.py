"""Share partitions (KIP-932): the records of a partition that a share group has in flight."""

"""The share coordinator, which keeps the state of share partitions (KIP-932)."""

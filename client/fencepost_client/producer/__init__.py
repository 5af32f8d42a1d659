"""The pure parts of the producer: partitioner, batches, sequences, transactions."""

"""The producer's pure parts: where a record goes, batches, sequences, transactions."""

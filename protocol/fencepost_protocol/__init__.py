"""The Kafka protocol: messages generated from schemas, record batches, and a dissector."""

__version__ = "0.1.0"

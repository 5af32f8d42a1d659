"""Reads the message schemas: JSON files in Kafka's dialect become a small checked model."""

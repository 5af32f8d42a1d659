"""Message schemas: JSON files in Kafka's dialect, read into a checked model."""

"""The storage of partitions (Kafka: UnifiedLog, LogManager)."""

"""The cluster's metadata: its log, its image, its snapshots (Kafka: MetadataImage, KRaft log)."""

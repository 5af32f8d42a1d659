"""The settings of a client, by Kafka's names. Pure."""

"""Listeners, connections, requests and responses (Kafka: SocketServer, RequestChannel)."""

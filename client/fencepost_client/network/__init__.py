"""Connections to brokers: sockets, TLS, the cluster's metadata, and which broker is asked."""

"""Requests and their answers without a socket: connections, logins, procedures. Pure."""

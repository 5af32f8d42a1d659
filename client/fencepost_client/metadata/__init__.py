"""What a client knows about its cluster. Pure."""

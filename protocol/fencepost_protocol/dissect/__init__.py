"""Shows every byte of a message by name; see ``command`` for its command line."""

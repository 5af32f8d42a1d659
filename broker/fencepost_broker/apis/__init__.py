"""One module per family of APIs: a decoded request becomes a command, a decision a response."""

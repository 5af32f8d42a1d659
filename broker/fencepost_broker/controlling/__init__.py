"""The controller as its process and its brokers meet it: here, or at the other end of a wire."""

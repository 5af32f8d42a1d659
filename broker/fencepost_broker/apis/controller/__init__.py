"""What brokers ask of the controller."""

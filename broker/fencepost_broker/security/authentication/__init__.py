"""Who comes by a listener: SASL as the broker speaks it. No loop, no socket, no chance."""

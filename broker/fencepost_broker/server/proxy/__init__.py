"""A proxy in front of a cluster: clients reach its brokers through it, and fault rules apply."""

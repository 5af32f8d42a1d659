"""Who a client is, and what it may do. Pure machines."""

"""Authentication and authorization, as pure machines."""

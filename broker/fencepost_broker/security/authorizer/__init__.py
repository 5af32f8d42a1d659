"""Authorization: access control lists (ACLs), and decisions by them."""

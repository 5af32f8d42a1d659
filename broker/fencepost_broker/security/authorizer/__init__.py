"""Who may do what: access control lists (ACLs), and decisions by them."""

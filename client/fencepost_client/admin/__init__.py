"""The admin's exchanges: a procedure each."""

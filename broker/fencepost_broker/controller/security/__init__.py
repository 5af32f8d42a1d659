"""Decisions about users: SCRAM passwords, delegation tokens, ACLs."""

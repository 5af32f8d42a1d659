"""Live migration of groups between the classic protocol and KIP-848's."""

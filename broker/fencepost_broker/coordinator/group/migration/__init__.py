"""Groups that change from the classic protocol to KIP-848's while they are used, and back."""

"""The handlers of all APIs, by family, and what they share."""

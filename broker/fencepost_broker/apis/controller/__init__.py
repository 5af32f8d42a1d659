"""The handlers at a controller's listener."""

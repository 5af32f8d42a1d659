"""The broker's side of the tap: its UDP port and what it sends."""

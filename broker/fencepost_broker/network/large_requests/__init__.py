"""Requests with many elements, carried out in parts."""

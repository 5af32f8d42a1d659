"""Awkward topics: what consumers get wrong, and what a correct consumer reads."""

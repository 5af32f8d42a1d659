"""The transaction coordinator: `machine` is the whole; others import the part that they need."""

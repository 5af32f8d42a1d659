"""How values are written in text, and units for them."""

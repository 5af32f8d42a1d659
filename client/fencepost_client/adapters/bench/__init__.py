"""``fencepost bench``: what drives producers and consumers, and measures them."""

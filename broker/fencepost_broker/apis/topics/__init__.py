"""Topics, partitions and their offsets."""

"""What is left in memory, and how much it is."""

from __future__ import annotations

import gc
import pickle


def count_alive(kind: type) -> int:
    """How many objects of exactly this class something still holds."""
    gc.collect()
    return sum(type(each) is kind for each in gc.get_objects())


def held_bytes(held: object) -> int:
    """The size of an object with all that it refers to, when it is written down."""
    return len(pickle.dumps(held))

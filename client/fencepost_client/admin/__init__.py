"""The operations of ``Admin``, as procedures."""

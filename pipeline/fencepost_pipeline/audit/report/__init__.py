"""The audit as a self-contained HTML page: :mod:`.page`, with :mod:`.plots`."""

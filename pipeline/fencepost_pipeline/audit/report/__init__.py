"""The audit as one HTML page without anything from elsewhere: :mod:`.page` of :mod:`.plots`."""

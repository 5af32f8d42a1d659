"""Requests are held to what their user may do, before and behind the APIs' own handlers.

``table.py`` says for each API what it asks; ``layer.py`` puts that around a handler. Handlers know
nothing of it.
"""

"""Authorization of requests, before and after the APIs' own handlers.

Each API's ``rights`` in the registry names its check; ``layer.py`` runs it before the handler.
Handlers themselves do not check rights.
"""

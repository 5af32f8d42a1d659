"""Faults: rules that change what happens to matching requests and their answers.

``rule`` has the types, ``rules`` the list of a broker with its counters, ``compiled`` decides
whether a request matches, ``acts`` changes messages. Nothing here waits or writes to a connection:
``network.faulted_request`` carries out what a rule says.
"""

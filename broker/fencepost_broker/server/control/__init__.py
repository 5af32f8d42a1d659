"""The control port: HTTP and JSON for a running broker. Imported only where it is asked for.

routes.py     what a route is; table.py has all of them
families/     the handlers, a module for each family of routes
decoding.py   requests as structs; openapi.py describes them, page.py writes them down
port.py       the listener; guard.py refuses requests; problems.py are the errors
events.py     the live stream; seen.py are the requests that clients sent
"""

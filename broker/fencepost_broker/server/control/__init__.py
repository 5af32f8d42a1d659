"""The control port: HTTP and JSON for a running broker, a cluster or a proxy.

Imported only where it is asked for.

routes.py     what a route is; table.py has all of them
families/     the handlers, a module for each family of routes
decoding.py   requests as structs; openapi.py describes them, page.py writes them down
controlled.py who carries routes out: a broker or a proxy; cluster.py: a cluster of processes,
              by their own ports; in_cluster.py: which of them, and how answers become one;
              numbered.py: what each of them has under a number
values/       values of records by a schema, in a process of its own
client.py     a client of a control port
port.py       the listener; guard.py refuses requests; problems.py are the errors
events.py     the live stream; seen.py are the requests that clients sent
"""

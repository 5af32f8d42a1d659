"""Coordinators at work: the pure machines of ``coordinators/``, wired to logs, time and requests.

runtime.py     all coordinators of a broker: who has which id, loading, effects, time
shard.py       one machine and the partition whose records it is made of
markers.py     what sends WriteTxnMarkers, until all of them are acknowledged
asking.py      what leaders ask coordinators that are other brokers
loopback.py    requests of the broker to itself
explaining.py  why nothing goes on, for whoever asks
known_cluster.py  partitions, leaders and features, as coordinators ask about them
groups.py      what a group coordinator is made from
"""

"""Replication of partitions. This package is pure; other packages do the I/O.

:mod:`.leader` advances a partition's high watermark and proposes changes of its ISR;
:mod:`.follower` builds the Fetch requests of followers and applies the responses.
"""

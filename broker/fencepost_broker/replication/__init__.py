"""Replication: what a leader knows of its followers, and how a follower follows. Pure machines.

:mod:`.leader` decides how far a partition is replicated and proposes who is in sync;
:mod:`.follower` asks a leader for more, and takes in what comes.
"""

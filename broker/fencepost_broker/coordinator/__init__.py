"""The coordinators of groups, with their offsets, and of transactions.

Each coordinator is a pure state machine for one partition of ``__consumer_offsets`` or
``__transaction_state``; a replay of that partition's log loads it.
"""

"""The audit: proves from a broker's log files that exactly-once held, or shows where it did not.

- :mod:`.auditing`: the whole of it. :mod:`.scan`: one partition by itself.
- :mod:`.checks`: the invariants, a module each, with their theory.
- :mod:`.coordinator`: the transaction log read back into transactions.
- :mod:`.findings`: what is found, and the verdicts.
- :mod:`.report`: one HTML page; :mod:`.out`: Parquet tables; :mod:`.command`: ``fencepost audit``.

It needs numpy and pyarrow, and nothing of Spark. Importing this package alone needs neither.
"""

"""The audit: proves from a broker's log files that exactly-once held, or shows where it did not.

- :mod:`.audit_run`: the whole audit; :mod:`.partition_scan`: the checks of one partition.
- :mod:`.checks`: the invariants, a module each, with their theory.
- :mod:`.coordinator_log`: transactions, read back from the transaction log.
- :mod:`.findings`: the findings and the verdicts.
- :mod:`.report`: one HTML page; :mod:`.parquet_tables`: the audit's tables as Parquet files.
- :mod:`.command`: ``fencepost audit``.

The audit needs numpy and pyarrow, and not Spark. Importing this package alone needs neither.
"""

"""Kafka's data as columns, Spark data sources, and the audit.

- :mod:`.columns`: record batches <-> Arrow columns, without files, sockets and Spark.
- :mod:`.segments`: the log files of a data directory as tables of Arrow batches.
- :mod:`.sink`: the exactly-once sink without Spark.
- :mod:`.spark`: the data sources. Only this package imports PySpark.
- :mod:`.audit`: proves from log files that exactly-once held.
"""

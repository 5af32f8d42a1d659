"""Kafka's data as columns, and Spark pipelines over them.

- :mod:`.columns`: record batches <-> Arrow columns; knows no file, no socket and no Spark.
- :mod:`.segments`: the log files of a data directory as tables of Arrow batches.
- :mod:`.spark`: the data sources; what imports PySpark is there, and nowhere else.
"""

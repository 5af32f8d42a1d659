"""The exactly-once sink without Spark: its marker, its commit protocol, its rows and its tasks.

Each micro-batch is one transaction. The transaction contains a marker: the number of the next
batch, as an offset of a consumer group. So the broker alone says whether a batch was committed::

    driver, begin     InitProducerId (aborts what an earlier driver left open, and fences it)
                      OffsetFetch, require stable: the marker
    tasks             Produce with the driver's producer id and epoch, sequences from 0
    driver, commit    TxnOffsetCommit(batch + 1, query id), EndTxn

A crash before EndTxn leaves a transaction that the next begin aborts. After EndTxn the marker says
that the batch is committed, and the batch is skipped when Spark runs it again. The order within
begin matters: the marker is read when no earlier driver can change it any longer.

================  =================================================================================
marker            the marker, and what it means for a batch                                 pure
commit_protocol   begin, commit and abort as procedures of the client                       pure
task_reports      what tasks report to the driver, and what the driver concludes            pure
rows              columns and their rules; which row goes to which partition                pure
key_hash          the hash of Kafka's partitioner, for a column of keys                     pure
settings          the settings of a sink, checked
connections       connections that a process of Spark's keeps from batch to batch
driver            runs the procedures on a real cluster
task_writer       a task: writes rows in batches into the transaction
================  =================================================================================
"""

from fencepost_pipeline.sink import driver, task_writer

__all__ = ["driver", "task_writer"]

"""The exactly-once sink without Spark: its marker, its protocol, its rows, and who writes them.

One transaction per micro-batch, with a marker of its own inside: the number of the batch that comes
next, as an offset of a consumer group. Whether a batch was committed is then told by the broker,
and by nothing else::

    driver, begin     InitProducerId (ends what an earlier driver left open, and fences it)
                      OffsetFetch, require stable: the marker
    tasks             Produce under the driver's producer id and epoch, sequences from 0
    driver, commit    TxnOffsetCommit(batch + 1, whose query), EndTxn

A crash before EndTxn leaves a transaction that the next begin aborts; one behind it leaves a marker
that says so, and the batch is skipped when Spark runs it again. The order within begin matters: the
marker is read when nobody else can move it any more.

=============  ====================================================================================
marker         what the marker says, and what follows from it for a batch                   pure
protocol       begin, commit and abort as procedures of the SDK                             pure
reports        what tasks tell the driver, and what it makes of all of them                 pure
rows           columns and their rules; which row goes to which partition                  pure
hashing        the hash of Kafka's partitioner, a column at a time                         pure
settings       what a sink was told, checked
driving        procedures on a real cluster
writing        a task: rows into batches into the transaction
=============  ====================================================================================
"""

from fencepost_pipeline.sink import driver as driving
from fencepost_pipeline.sink import task_writer as writing

__all__ = ["driving", "writing"]

r"""The pipeline: orders get their prices, and each minute its total. Exactly once, by Spark.

    fencepost up --topic orders:2 --topic enriched:2 --topic totals:2:cleanup.policy=compact &
    python examples/pipeline/orders.py &
    python examples/pipeline/totals.py --checkpoints /tmp/checkpoints

Two queries. The first reads `orders` and writes `enriched`; the second reads `enriched` and writes
to `totals` what a minute has sold so far, so a minute's last record there is its total. Each
micro-batch of each query is one transaction of the sink, with the number of the batch inside; and
the source reads committed records only. So kill -9 this program, its JVM or the broker whenever you
like, and start it again with the same checkpoints: every order is counted once.

    fencepost consume -t totals -e --isolation read_committed -f '%k %s\n'
"""

import argparse
import os
import signal
import sys
from pathlib import Path
from threading import Event

from fencepost_pipeline.spark import exactly_once_sink, register
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

ORDER = "order STRING, product STRING, quantity INT, ordered_at LONG"
PRODUCTS = Path(__file__).with_name("products.csv")


def enrich(orders: DataFrame, products: DataFrame, options: dict[str, str]) -> StreamingQuery:
    """Orders into `enriched`, with what they cost.

    Each order goes to the partition that it comes from. A task reads one partition, so it is also
    the only one that writes to it, and nothing has to be shuffled.
    """
    rows = (
        orders.select("partition", "key", json_of("value", ORDER).alias("read"))
        .select("partition", "key", "read.*")
        .join(f.broadcast(products), "product", "left")
        .withColumn("cents", f.col("cents") * f.col("quantity"))
        .select(
            "partition", "key", f.to_json(f.struct("order", "ordered_at", "cents")).alias("value")
        )
    )
    return rows.writeStream.format("fencepost").queryName("enrich").options(**options).start()


def total(enriched: DataFrame, options: dict[str, str]) -> StreamingQuery:
    """Enriched orders into `totals`, by minute.

    Rows of a group have no order by partition any more: `exactly_once_sink` distributes them.
    """
    ordered_at = f.timestamp_millis("read.ordered_at")
    rows = (
        enriched.select(json_of("value", "ordered_at LONG, cents LONG").alias("read"))
        .select(ordered_at.alias("ordered_at"), "read.cents")
        .withWatermark("ordered_at", "1 day")  # what comes later is not counted any more
        .groupBy(f.window("ordered_at", "1 minute").start.alias("minute"))
        .agg(f.count("*").alias("orders"), f.sum("cents").alias("cents"))
        .select(
            f.date_format("minute", "yyyy-MM-dd HH:mm").alias("key"),
            f.to_json(f.struct("orders", "cents")).alias("value"),
        )
    )
    return exactly_once_sink(rows, options, output_mode="update", query_name="totals")


def json_of(column: str, schema: str) -> Column:
    """The fields of a JSON value; one that cannot be read ends the query, and is not left out."""
    return f.from_json(f.col(column).cast("string"), schema, {"mode": "FAILFAST"})


def run(bootstrap: str, checkpoints: Path) -> None:
    """Both queries, until one of them fails or Ctrl-C."""
    spark = session()
    stopped = Event()
    signal.signal(signal.SIGINT, lambda *_: stopped.set())  # after Spark has set its own handler
    kafka = {"kafka.bootstrap.servers": bootstrap}

    def source(topic: str) -> DataFrame:
        options = kafka | {"subscribe": topic, "startingOffsets": "earliest"}
        return spark.readStream.format("fencepost").options(**options).load()

    def sink(topic: str) -> dict[str, str]:
        checkpoint = str(checkpoints / topic)
        return kafka | {"topic": topic, "sinkId": topic, "checkpointLocation": checkpoint}

    products = spark.read.csv(str(PRODUCTS), header=True, schema="product STRING, cents LONG")
    try:
        enrich(source("orders"), products, sink("enriched"))
        total(source("enriched"), sink("totals"))
        print("the queries run", flush=True)
        while not stopped.is_set() and not spark.streams.awaitAnyTermination(timeout=1):
            pass
        for query in spark.streams.active:
            query.stop()
    finally:
        spark.stop()


def session() -> SparkSession:
    """Spark on this machine. On a cluster: spark-submit, and the cluster's own settings."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    spark = (
        SparkSession.builder.master("local[2]")
        .appName("orders to totals")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    register(spark)
    return spark


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Orders to totals per minute, exactly once.")
    parser.add_argument("--bootstrap", default="localhost:9092", help="(localhost:9092)")
    parser.add_argument(
        "--checkpoints", type=Path, required=True, help="where Spark keeps how far it is"
    )
    options = parser.parse_args()
    run(options.bootstrap, options.checkpoints)

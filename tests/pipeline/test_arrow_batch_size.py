"""Arrow batches go to the JVM in pieces that it has room for, nothing left out."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install fencepost[spark]")

from fencepost_pipeline.spark.arrow_batch_size import PIECE_BYTES, in_pieces
from fencepost_pipeline.spark.log_options import parse
from fencepost_pipeline.spark.log_source import LogReader

from tests.pipeline.logs import data_batches, write_segment
from tests.pipeline.reading import batch_reader, produce
from tests.support.up import Up


@pytest.mark.parametrize("size", [0, 100, PIECE_BYTES // 3, PIECE_BYTES * 2])
def test_pieces_are_all_of_it(size: int) -> None:
    rows = pa.RecordBatch.from_pydict({"value": [bytes(size)] * 7})
    pieces = list(in_pieces(rows))
    assert pa.Table.from_batches(pieces).equals(pa.Table.from_batches([rows]))
    largest = max(piece.nbytes for piece in pieces)
    assert largest <= PIECE_BYTES or max(piece.num_rows for piece in pieces) == 1


def test_no_rows_are_no_pieces() -> None:
    assert not list(in_pieces(pa.RecordBatch.from_pydict({"value": pa.array([], pa.binary())})))


def test_the_source_hands_over_pieces(fencepost_broker: Up, topic: str) -> None:
    bootstrap = f"127.0.0.1:{fencepost_broker.port}"
    count = 3 * PIECE_BYTES // 100_000
    produce(bootstrap, topic, *["x" * 100_000] * count)
    reader = batch_reader(bootstrap, subscribe=topic)
    pieces = [piece for part in reader.partitions() for piece in reader.read(part)]
    assert sum(piece.num_rows for piece in pieces) == count
    assert max(piece.nbytes for piece in pieces) <= PIECE_BYTES * 1.1


def test_the_log_source_hands_over_pieces(tmp_path: Path) -> None:
    write_segment(tmp_path, data_batches(60, records=10, size=10_000))
    reader = LogReader(parse({"path": str(tmp_path)}))
    pieces = [piece for part in reader.partitions() for piece in reader.read(part)]
    assert sum(piece.num_rows for piece in pieces) == 600
    assert max(piece.nbytes for piece in pieces) <= PIECE_BYTES * 1.1

"""Record batches <-> Arrow columns, vectorised with numpy.

::

    from fencepost_pipeline.columns import decode, encode

    rows = decode([batch])                       # a pyarrow.Table with RECORD_SCHEMA
    for batch in encode(rows, max_batch_bytes=1_000_000):
        ...                                      # a bytearray each, ready for a Produce request

The rules are those of :mod:`fencepost_protocol.records`: an invalid batch is detected here by
arithmetic, and the protocol's reader explains it.
"""

from fencepost_pipeline.columns.decoding import decode, iter_decode
from fencepost_pipeline.columns.encoding import encode, iter_encode
from fencepost_pipeline.columns.tables import HEADERS_TYPE, RECORD_SCHEMA

__all__ = ["HEADERS_TYPE", "RECORD_SCHEMA", "decode", "encode", "iter_decode", "iter_encode"]

"""Record batches, as in Produce requests, log files and Fetch responses.

- :mod:`.batch`: the header, the CRC, patching in place, and walking batch by batch. A broker's
  data path uses nothing else.
- :mod:`.reader`, :mod:`.columns` (with :mod:`.runs`): the records of a batch, one by one or all at
  once.
- :mod:`.writer`: building batches. :mod:`.control`: transaction markers and their like.
- :mod:`.rewrite`: compaction of a batch.
- :mod:`.compression` and a module per codec: bounded against bombs.

Only magic 2 is read and written. Older message sets are recognised and refused.
"""

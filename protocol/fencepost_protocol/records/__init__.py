"""Record batches: what is in a Produce request, a log file and a Fetch response.

- :mod:`.batch`: the header, the CRC, patching in place, and walking batch by batch. All that a
  broker's data path uses.
- :mod:`.reader`, :mod:`.columns` (with :mod:`.runs`): the records of a batch, one by one or all at
  once.
- :mod:`.writer`: building batches. :mod:`.control`: transaction markers and their like.
- :mod:`.rewrite`: what compaction does to a batch.
- :mod:`.compression` and a module per codec: bounded against bombs.

Only magic 2 is read and written. Older message sets are recognised and refused.
"""

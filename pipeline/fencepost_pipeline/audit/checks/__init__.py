"""The invariants, one module each; the theory stands at the top of each.

Those of a single partition take chunks of rows in the order of offsets (``feed``) and keep between
chunks what later rows are compared with: a few numbers per producer. Those that compare partitions
with each other or with a coordinator's log are functions over what the scan of the partitions gave.
"""

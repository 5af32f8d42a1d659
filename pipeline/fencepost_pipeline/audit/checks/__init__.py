"""The invariants: a module for each, which begins with the theory.

Those of a single partition take chunks of rows in the order of offsets (``feed``) and keep between
chunks what later rows are compared with: a few numbers per producer. Those that compare partitions
with each other or with a coordinator's log are functions over what the scan of the partitions gave.
"""

"""Data directories, on files or in memory."""

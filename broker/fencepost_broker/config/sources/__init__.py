"""Where settings are given: files, the environment, and options of commands."""

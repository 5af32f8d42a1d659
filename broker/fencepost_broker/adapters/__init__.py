"""Where the operating system begins: sockets, files, clocks, logs."""

"""Where the SDK meets the event loop: sockets, time and tasks; everything else is pure."""

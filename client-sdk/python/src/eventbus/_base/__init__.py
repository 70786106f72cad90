"""State that the parts of a client share: connections, timers, waiters. Without I/O or a clock."""

"""Publishing: numbers events, puts them into frames, and keeps the unconfirmed ones. Without I/O or a clock."""

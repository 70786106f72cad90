"""Consumers of durable topics: what they have got, handled and settled. Without I/O or a clock."""

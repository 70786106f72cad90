"""Requests to services, and requests that services answer. Without I/O or a clock."""

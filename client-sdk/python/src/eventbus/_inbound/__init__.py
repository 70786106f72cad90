"""Subscriptions: checks deliveries, buffers events, and grants credit. Without I/O or a clock."""

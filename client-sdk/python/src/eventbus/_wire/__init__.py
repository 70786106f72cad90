"""The wire protocol: its encoding, frames and events, and the rules for topics."""

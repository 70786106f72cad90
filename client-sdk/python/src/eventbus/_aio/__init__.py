"""The client on asyncio: sockets, and what applications call."""

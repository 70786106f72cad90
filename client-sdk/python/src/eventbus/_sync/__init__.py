"""The client without ``await``: the thread of its event loop, and what applications call."""

"""Version of this library, read by pyproject.toml."""

VERSION = "0.1.0.dev0"
AGENT = f"eventbus-python/{VERSION}"

"""The version of this library; pyproject.toml has the same, which a test compares."""

VERSION = "0.1.0.dev0"
AGENT = f"eventbus-python/{VERSION}"

"""The version of this library: the one place that has it, from which pyproject.toml takes it."""

VERSION = "0.1.0.dev0"
AGENT = f"eventbus-python/{VERSION}"

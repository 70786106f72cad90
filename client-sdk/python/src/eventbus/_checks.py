"""Checks of arguments."""

from __future__ import annotations


def check_range(name: str, value: object, least: float, most: float, unit: str, whole: bool = False) -> None:
    """Refuses a number that is out of range, naming it, its value, and what was expected."""
    number = isinstance(value, int) if whole else isinstance(value, (int, float))
    if not number or isinstance(value, bool) or not least <= value <= most:  # type: ignore[operator]
        raise ValueError(f"{name}: {value!r} (expected: {least:g}..{most:g} {unit})")

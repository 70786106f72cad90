"""Checks of arguments."""

from __future__ import annotations


def check_range(name: str, value: object, minimum: float, maximum: float, unit: str, whole: bool = False) -> None:
    """Raises ValueError for a number out of range, with its name, value, and the expectation."""
    number = isinstance(value, int) if whole else isinstance(value, (int, float))
    if not number or isinstance(value, bool) or not minimum <= value <= maximum:  # type: ignore[operator]
        raise ValueError(f"{name}: {value!r} (expected: {minimum:g}..{maximum:g} {unit})")

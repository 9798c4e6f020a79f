"""Columns of flat arrays, counted where they are declared."""

from __future__ import annotations


class Columns:
    """Numbers the columns of one table: each call declares the next one, ``count`` says how many there are."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, width: int = 1) -> int:
        """Declare a column, or *width* columns; returns the number of the first."""
        first = self.count
        self.count += width
        return first

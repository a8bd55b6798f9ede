"""A whole installation, for what is counted and traced of its work."""

from tests.coordinators.conftest import house

__all__ = ["house"]

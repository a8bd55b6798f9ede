"""How far the database had come when it last told the archive store."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Mark:
    id: UUID
    value: int
    """The counter when the mark was made: how many facts that protect homes the database knew."""

"""What the coordinators of this address tell of themselves: those of this process, and those of its siblings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import BaseModel, ValidationError

from codehub.coordinators.supervisor import Report
from codehub.web.siblings import Siblings

ADDRESS = "/health/coordinator"


class Told(BaseModel):
    """Of one coordinator that leads; the rest of what it tells is of no concern here."""

    is_leader: bool
    epoch: int | None
    last_pass: datetime | None
    last_error: str | None
    is_failing: bool
    alarm: str | None
    services: dict[str, bool]


class _Answer(BaseModel):
    coordinators: dict[str, Told]


@dataclass(frozen=True)
class Leading:
    siblings: Siblings
    reports: Mapping[str, Report] = field(default_factory=dict)
    """Of this process; empty where it has no coordinators."""

    async def told(self) -> dict[tuple[str, int], Told]:
        """By name and epoch, of those who lead. What leads on another machine is not heard of here."""
        own = {name: Told.model_validate(report, from_attributes=True) for name, report in self.reports.items()}
        answers = await self.siblings.answers(ADDRESS)
        everybody = [own, *(_read(text) for text in answers.values() if text is not None)]
        return {
            (f"coordinator:{name}", told.epoch): told
            for each in everybody
            for name, told in each.items()
            if told.is_leader and told.epoch is not None
        }


def _read(text: str) -> Mapping[str, Told]:
    """A sibling of another version, while one follows the other, may tell something else."""
    try:
        return _Answer.model_validate_json(text).coordinators
    except ValidationError:
        return {}

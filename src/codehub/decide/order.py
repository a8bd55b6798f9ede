"""When a look was, in the order of what a row has recorded.

The times that are compared are the database's, and its clock may be set back: what is recorded then lies ahead of
every look for as long as the clock had been ahead. But what came first is known without a clock."""

from dataclasses import replace
from datetime import datetime, timedelta

from codehub.model.sightings import Sighting
from codehub.model.workspace import Workspace

TICK = timedelta(microseconds=1)
"""The least by which one moment is later than another."""


def placed(workspace: Workspace, sighting: Sighting, acted_before: datetime | None) -> Sighting:
    """The look, later than every one that the row holds: there is one Observer, and it looks at one thing after the
    other. And not earlier than the act that the row had recorded before the look began, `acted_before`, if that is the
    last one still."""
    looked_at = sighting.looked_at
    if workspace.observed_at is not None:
        looked_at = max(looked_at, workspace.observed_at + TICK)
    if acted_before is not None and workspace.acted_at == acted_before:
        looked_at = max(looked_at, acted_before)
    archive = sighting.archive
    if archive is not None:
        archive = replace(archive, looked_at=max(archive.looked_at, looked_at))
    return replace(sighting, looked_at=looked_at, archive=archive)


def counts(workspace: Workspace, sighting: Sighting) -> bool:
    """Whether the look is not earlier than the row's last act."""
    return workspace.acted_at is None or sighting.looked_at >= workspace.acted_at

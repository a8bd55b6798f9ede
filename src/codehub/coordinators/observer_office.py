"""An Observer's time in office: what it remembers from one look to the next."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from codehub.coordinators.prober import Prober
from codehub.decide.order import counts, placed
from codehub.model.sightings import Sighting
from codehub.model.workspace import Workspace
from codehub.store.protocols import ObserverStore, Seat


@dataclass
class ObserverOffice:
    """What one term in office remembers: enough to read only the rows that a look may change."""

    store: ObserverStore
    seat: Seat
    prober: Prober
    traces: dict[UUID, int | None] = field(default_factory=dict)
    """A hash of what was last seen of a workspace and is in its row; None where it must be compared again."""
    homes: dict[UUID, str] = field(default_factory=dict)
    looked_at_all_at: float = float("-inf")
    compared_everything_at: float = float("-inf")
    archives_due_at: float = float("-inf")
    archives_seen_to: UUID | None = None
    """How far the round over all archives has come; None: it is yet to begin."""
    doubt: str | None = None
    acts: dict[UUID, tuple[datetime, datetime]] = field(default_factory=dict)
    """Acts recorded at a later time than that of a look, and of which look: any other one from now on comes after."""

    def know_home(self, workspace_id: UUID, row: Workspace | None) -> None:
        """Which volume has to be there. That of a deleted workspace is meant to go."""
        if row is not None and row.home_volume is not None and row.deleted_at is None:
            self.homes[workspace_id] = row.home_volume
        else:
            self.homes.pop(workspace_id, None)

    def place(self, row: Workspace, sighting: Sighting) -> Sighting:
        """What was seen, at its place among the row's acts and looks; the row was read after the look began."""
        acted_at, noted_by = self.acts.pop(row.id, (None, None))
        in_order = placed(row, sighting, acted_at if noted_by != sighting.looked_at else None)
        if row.acted_at is not None and not counts(row, in_order):
            self.acts[row.id] = row.acted_at, sighting.looked_at
        return in_order

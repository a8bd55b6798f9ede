"""What happened in a campaign, one event after the other: the only thing that its checker and its report know."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Under:
    """What it was tried with, and how busy the machine was: when it began, and when all was over."""

    at: float
    commit: str
    cores: int
    load: float
    """Of the last 15 minutes."""


@dataclass(frozen=True)
class Created:
    """The API has answered that it is made."""

    at: float
    workspace: str
    name: str
    wish: str
    source: str | None = None
    """The workspace that it was forked from, which rested in its archive then."""


@dataclass(frozen=True)
class Asked:
    at: float
    workspace: str
    what: str
    """`wish` or `name`."""
    value: str


@dataclass(frozen=True)
class Answered(Asked):
    """The answer was 2xx."""


@dataclass(frozen=True)
class Writing:
    at: float
    workspace: str
    page: str
    content: str


@dataclass(frozen=True)
class Synced(Writing):
    """It is on the disk: the writer was told so."""


@dataclass(frozen=True)
class Visited(Writing):
    """Somebody came through the front door, and this is what was on the page."""


@dataclass(frozen=True)
class Archived:
    """It rests in this archive."""

    at: float
    workspace: str
    archive: str


@dataclass(frozen=True)
class Restoring(Archived):
    """The files of this archive shall take the place of those that are there."""


@dataclass(frozen=True)
class Restored(Archived):
    """It rests as it was wished, with the files of this archive."""


@dataclass(frozen=True)
class Struck:
    at: float
    fault: str
    target: str
    seconds: float = 0
    """How long it lasted."""


@dataclass(frozen=True)
class Recovered:
    """A workspace that was asked for when the fault began is as it was asked for."""

    at: float
    fault: str
    target: str
    seconds: float


@dataclass(frozen=True)
class Failed:
    """Its owner saw it in ERROR."""

    at: float
    workspace: str
    reason: str


@dataclass(frozen=True)
class Breached:
    """Somebody who watches has seen what may never be, such as two containers of one workspace."""

    at: float
    what: str


@dataclass(frozen=True)
class Calm:
    """The last fault is over."""

    at: float
    bound: float
    """Within so many seconds everything comes to rest."""


@dataclass(frozen=True)
class Rested:
    """What became of a workspace in the end."""

    at: float
    workspace: str
    name: str
    wish: str
    phase: str
    reason: str | None
    containers: int
    volumes: int


@dataclass(frozen=True)
class Opened:
    """Every page of a home, looked at when all was over."""

    at: float
    workspace: str
    pages: dict[str, str]


Event = (
    Under
    | Created
    | Asked
    | Answered
    | Writing
    | Synced
    | Visited
    | Archived
    | Restoring
    | Restored
    | Struck
    | Recovered
    | Failed
    | Breached
    | Calm
    | Rested
    | Opened
)
KINDS = {
    kind.__name__: kind
    for kind in (
        Under,
        Created,
        Asked,
        Answered,
        Writing,
        Synced,
        Visited,
        Archived,
        Restoring,
        Restored,
        Struck,
        Recovered,
        Failed,
        Breached,
        Calm,
        Rested,
        Opened,
    )
}


@dataclass
class History:
    """Grows line by line, so that nothing of it is lost when the campaign is."""

    path: Path
    events: list[Event] = field(default_factory=list)

    def tell(self, event: Event) -> None:
        self.events.append(event)
        with self.path.open("a") as file:
            file.write(f"{json.dumps({'kind': type(event).__name__, **asdict(event)})}\n")


def read(lines: Iterable[str]) -> list[Event]:
    return [_event(json.loads(line)) for line in lines]


def _event(fields: dict[str, object]) -> Event:
    made: Event = KINDS[str(fields.pop("kind"))](**fields)  # type: ignore[arg-type]
    return made

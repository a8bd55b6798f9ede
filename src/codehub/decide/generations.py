"""Why an archive of somebody's workspace stays, in words for its owner."""

from collections.abc import Sequence
from datetime import datetime

from codehub.decide.orphans import (
    CollectPolicy,
    Found,
    Generation,
    Ground,
    OrphanKind,
    Stays,
    named_archives,
    protection,
)
from codehub.model.workspace import Workspace


def stays_because(
    archive: Generation,
    workspace: Workspace,
    others: Sequence[Workspace],
    generations: Sequence[Generation],
    policy: CollectPolicy,
    now: datetime,
) -> str | None:
    """By the rules that the collector goes by; None where it may go, after its grace. `others` are workspaces that
    point to the same archives, or that those were made for."""
    found = Found(OrphanKind.ARCHIVE, archive.key, archive.workspace_id)

    def why(rows: Sequence[Workspace]) -> str | None:
        named = named_archives(rows, generations, policy, now)
        return protection(found, Ground({row.id: row for row in rows}, named), policy, now)

    return why([workspace]) or (Stays.OF_ANOTHER if why([workspace, *others]) is not None else None)

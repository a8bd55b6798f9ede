"""Events are written in the statement that makes the change, so that neither is there without the other."""

from collections.abc import Sequence
from dataclasses import astuple, fields

from sqlalchemy import CTE, insert, literal, select, union_all

from codehub.store.history import Event
from codehub.store.tables import workspace_events


def tell(changed: CTE, events: Sequence[Event]) -> CTE:
    """Write the events of the row that `changed` holds; none where its guard held nothing."""
    columns = [field.name for field in fields(Event)]
    stories = [select(changed.c.id, *(literal(value) for value in astuple(event))) for event in events]
    return insert(workspace_events).from_select(["workspace_id", *columns], union_all(*stories)).cte("told")

"""Events are written in the statement that makes the change, so that neither is there without the other."""

from collections.abc import Sequence
from dataclasses import astuple, fields
from uuid import UUID

from sqlalchemy import CTE, ColumnElement, insert, literal, literal_column, select, union_all

from codehub.store.history import Event
from codehub.store.tables import workspace_events


def tell(changed: CTE, events: Sequence[Event]) -> CTE:
    """Write the events of the row that `changed` holds; none where its guard held nothing."""
    columns = [field.name for field in fields(Event)]
    # By name: `changed.c` would make a column object of each column of the row, which costs more than the statement.
    whose: ColumnElement[UUID] = literal_column(f"{changed.name}.id")
    stories = [select(whose, *(literal(value) for value in astuple(event))).select_from(changed) for event in events]
    return insert(workspace_events).from_select(["workspace_id", *columns], union_all(*stories)).cte("told")

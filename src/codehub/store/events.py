"""Events are written in the statement that makes the change, so that neither is there without the other."""

from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from operator import attrgetter

from sqlalchemy import CTE, Text, TextClause, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY

from codehub.store.history import Event

_COLUMNS = tuple(field.name for field in fields(Event))


def tell(changed: CTE, events: Sequence[Event]) -> CTE:
    """Write the events of the row that `changed` holds; none where its guard held nothing. `changed` has to be added to
    the statement before this."""
    stories = {name: list(map(attrgetter(name), events)) for name in _COLUMNS}
    return _insertion(changed.name).bindparams(**stories).columns().cte("told")


@cache
def _insertion(changed: str) -> TextClause:
    """As text, and the same for any number of events: to put it together anew each time cost more than to run it."""
    names, values = ", ".join(_COLUMNS), ", ".join(f":{name}" for name in _COLUMNS)
    insertion = f"""
        INSERT INTO workspace_events (workspace_id, {names})
        SELECT {changed}.id, story.* FROM {changed}, unnest({values}) AS story
    """  # noqa: S608 (words of this module)
    return text(insertion).bindparams(*(bindparam(name, type_=ARRAY(Text)) for name in _COLUMNS))

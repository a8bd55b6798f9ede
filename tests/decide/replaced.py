"""`dataclasses.replace` for rows, three times as fast: the walk makes more than a million of them."""

from dataclasses import fields
from operator import attrgetter
from typing import Any

from codehub.model.workspace import Workspace

_NAMES = [field.name for field in fields(Workspace)]
_PLACE = {name: place for place, name in enumerate(_NAMES)}
_VALUES = attrgetter(*_NAMES)
_SET = [getattr(Workspace, name).__set__ for name in _NAMES]  # past the guard that keeps a row from being changed


def replaced(row: Workspace, **changes: Any) -> Workspace:  # noqa: ANN401
    values = list(_VALUES(row))
    for name, value in changes.items():
        values[_PLACE[name]] = value
    made = object.__new__(Workspace)
    for place, value in zip(_SET, values, strict=True):
        place(made, value)
    return made

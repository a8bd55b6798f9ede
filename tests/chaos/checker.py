"""What must hold of every history, whatever happened in it: each breach as a sentence."""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import assert_never

from tests.chaos.history import (
    Answered,
    Archived,
    Asked,
    Breached,
    Calm,
    Created,
    Event,
    Failed,
    Opened,
    Recovered,
    Rested,
    Restored,
    Restoring,
    Struck,
    Synced,
    Under,
    Visited,
    Writing,
)

Pages = dict[str, set[str | None]]
"""What each page may hold: what was last synced, or what somebody began to write since; None for no page."""

LATE_SECONDS = 60
"""What was asked and never answered may still come about so much later, past what was asked and answered meanwhile."""
DELETED = "DELETED"
ERROR = "ERROR"
LOST = "DataLost"
PLACES = {"RUNNING": (1, 1), "STANDBY": (0, 1), "ARCHIVED": (0, 0), DELETED: (0, 0)}
"""Containers and volumes of a workspace that rests there."""


@dataclass
class Promise:
    """The last value that was acknowledged, and those asked for that may have come about instead."""

    at: float
    value: str
    asked: list[tuple[float, str]] = field(default_factory=list)

    def ask(self, at: float, value: str) -> None:
        self.asked.append((at, value))

    def answer(self, at: float, value: str) -> None:
        mine = next((each for each in reversed(self.asked) if each[1] == value), None)
        if mine is not None:
            self.asked.remove(mine)
        self.at, self.value = at, value

    def allows(self) -> set[str]:
        return {self.value} | {value for at, value in self.asked if at > self.at - LATE_SECONDS}


@dataclass
class Ledger:
    """What is known of one workspace so far."""

    promises: dict[str, Promise]
    pages: Pages = field(default_factory=dict)
    rested: Rested | None = None
    opened: bool = False

    def write(self, page: str, content: str) -> None:
        self.pages.setdefault(page, {None}).add(content)

    def sync(self, page: str, content: str) -> None:
        self.pages[page] = {content}

    def replace(self, files: Pages, *, surely: bool) -> None:
        """These are in the place of all that was there: or may be, as long as that is not sure."""
        for page in self.pages.keys() | files.keys():
            before = set() if surely else self.pages.get(page, {None})
            self.pages[page] = before | files.get(page, {None})


class Checker:
    def __init__(self) -> None:
        self.breaches: list[str] = []
        self._ledgers: dict[str, Ledger] = {}
        self._archives: dict[str, Pages] = {}
        self._calm: Calm | None = None

    def read(self, event: Event) -> None:
        match event:
            case Answered(at, workspace, what, value):
                self._ledgers[workspace].promises[what].answer(at, value)
            case Asked(at, workspace, what, value):
                self._ledgers[workspace].promises[what].ask(at, value)
            case Created():
                self._create(event)
            case Writing() | Archived():
                self._in_a_home(event)
            case Breached(_, what):
                self.breaches.append(what)
            case Calm():
                self._calm = event
            case Rested():
                self._rest(event)
            case Opened(_, workspace, pages):
                self._open(workspace, pages)
            case Under() | Struck() | Recovered() | Failed():
                pass
            case _:
                assert_never(event)

    def _in_a_home(self, event: Writing | Archived) -> None:
        ledger = self._ledgers[event.workspace]
        match event:
            case Synced(_, _, page, content):
                ledger.sync(page, content)
            case Visited(_, workspace, page, content):
                self._compare(workspace, page, content, "shown to a visitor")
            case Writing(_, _, page, content):
                ledger.write(page, content)
            case Restoring(_, _, archive) | Restored(_, _, archive):
                ledger.replace(self._archives[archive], surely=isinstance(event, Restored))
            case Archived(_, _, archive):
                self._archives[archive] = deepcopy(ledger.pages)
            case _:
                assert_never(event)

    def end(self) -> None:
        """Nothing follows: whatever has not been seen by now is missing."""
        for workspace, ledger in self._ledgers.items():
            if ledger.rested is None:
                self.breaches.append(f"{workspace} never came to rest")
            elif not ledger.opened and ledger.rested.wish != DELETED:
                self.breaches.append(f"the home of {workspace} could not be opened in the end")

    def _create(self, event: Created) -> None:
        pages = deepcopy(self._ledgers[event.source].pages) if event.source is not None else {}
        promises = {"wish": Promise(event.at, event.wish), "name": Promise(event.at, event.name)}
        self._ledgers[event.workspace] = Ledger(promises, pages)

    def _rest(self, event: Rested) -> None:
        ledger = self._ledgers[event.workspace]
        ledger.rested = event
        promised = ledger.promises
        if event.wish not in (allowed := promised["wish"].allows()):
            self.breaches.append(f"a wish is lost: {event.workspace} shall be {event.wish}, not {sorted(allowed)}")
        if event.wish != DELETED and event.name not in (allowed := promised["name"].allows()):
            self.breaches.append(f"a name is lost: {event.workspace} is {event.name}, not {sorted(allowed)}")
        if event.phase == ERROR:
            self._in_error(event)
        elif event.phase != event.wish:
            self.breaches.append(f"{event.workspace} is {event.phase} in the end, though {event.wish} was wished")
        elif (event.containers, event.volumes) != PLACES[event.phase]:
            has = f"{event.containers} containers and {event.volumes} volumes"
            self.breaches.append(f"{event.workspace} is {event.phase} with {has}")
        if self._calm is None or event.at - self._calm.at > self._calm.bound:
            self.breaches.append(f"{event.workspace} came to rest too late")

    def _in_error(self, event: Rested) -> None:
        """It counts as rest, with a reason; that there is a way out of it is seen when its home is opened."""
        if event.reason is None:
            self.breaches.append(f"{event.workspace} is in ERROR without a reason")
        elif event.reason == LOST:
            self.breaches.append(f"the home of {event.workspace} is lost")

    def _open(self, workspace: str, pages: dict[str, str]) -> None:
        self._ledgers[workspace].opened = True
        for page in self._ledgers[workspace].pages:
            self._compare(workspace, page, pages.get(page), "in the home")

    def _compare(self, workspace: str, page: str, content: str | None, where: str) -> None:
        if content not in self._ledgers[workspace].pages.get(page, {None}):
            self.breaches.append(f"{page} of {workspace} is not as it was last synced: {content} {where}")


def breaches(history: Iterable[Event]) -> list[str]:
    """None where nothing was lost."""
    checker = Checker()
    for event in history:
        checker.read(event)
    checker.end()
    return checker.breaches

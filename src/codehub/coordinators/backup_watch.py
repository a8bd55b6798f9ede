"""Notices a database that was restored from an old backup, before anything is deleted by its word.

Yesterday's rows do not know today's archives and volumes: to a collector that believes them those are garbage, and to a
controller a workspace that was brought back is still to be deleted. So the database leaves a mark in the archive store
(`archives/counter.py`) whenever it has come further, and a database that does not know the mark it finds there deletes
nothing until an administrator confirms. Why that suffices:

- A mark is committed in the database before it is put into the store, and put there only after the mark that is there
  was found known. So a crash at any point, or two replicas at once, leave a known mark, and an unknown one means that
  the database was set back, or that a copy of it works on the same store.
- A frozen leader that wakes up may put an older mark back. That is a known one too, and the next look puts the newest.
- A mark covers every fact committed before it. Those since then are covered within a minute, or as soon as the store
  takes anything again; and before a home is let go of, its archive is covered: whatever exists only in the store, a
  database that is set back does not know the mark of."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog
from sqlalchemy.exc import DBAPIError

from codehub.archives.counter import leave_mark, read_mark
from codehub.archives.errors import StoreError, StoreLied
from codehub.archives.object_store import ObjectStore
from codehub.model.mark import Mark
from codehub.runtimes.errors import RuntimeFault
from codehub.store.protocols import Marks

log = structlog.get_logger()

DATABASE_IS_OLD = (
    "the archive store was told of a later state than this database knows (counter {stored} there, {here} here): it was"
    " restored from an old backup, or is a copy. Nothing is deleted until an administrator confirms: codehub gc confirm"
)


class HomesStay(RuntimeFault):
    """It is not certain that this database is the newest: no home, archive or volume may be removed now."""


class DatabaseIsOld(HomesStay):
    """It is certain that it is not."""


@dataclass
class BackupWatch:
    marks: Marks
    store: ObjectStore
    installation: str
    _covered: Mark | None = None
    """The newest mark that this process knows to be in the store."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def look(self, check: Callable[[], None]) -> Mark:
        """Compare with the store, and tell it how far the database has come. `check` is the caller's leadership, looked
        at before anything is written. Raises `HomesStay` where nothing can be compared now. A store that takes nothing
        can be compared with: it stays behind."""
        async with self._turn:
            try:
                stored = await read_mark(self.store, self.installation)
                self._covered = await self._newest(stored, check)
            except (StoreError, DBAPIError, OSError) as error:
                raise HomesStay(f"whether the database is the newest cannot be told now: {error}") from error
            return self._covered

    async def require(self, check: Callable[[], None], *, covered: bool) -> None:
        """Return if homes may be removed now. With `covered`, all that the database knows by now is in the store's mark
        too. Otherwise what was last seen there suffices: a store that is away keeps nobody from deleting."""
        known = self._covered
        if known is None:
            known = await self.look(check)
        try:
            is_known, here = await self.marks.look(known)
        except (DBAPIError, OSError) as error:
            raise HomesStay(f"whether the database is the newest cannot be told now: {error}") from error
        if not is_known:
            raise DatabaseIsOld(DATABASE_IS_OLD.format(stored=known.value, here=here))
        if covered and here > known.value and (await self.look(check)).value < here:
            raise HomesStay("the archive store takes no word of how far the database has come")

    async def ping(self) -> None:
        """The store lets us in and gives back what was left in it: one that has just started may do the first long
        before the second."""
        await self.store.ping()
        with contextlib.suppress(StoreLied):
            await read_mark(self.store, self.installation)

    async def tidy(self, stored: Mark) -> None:
        """Forget the marks that nobody can find in the store any more, which holds this one."""
        await self.marks.forget_before(stored)

    async def _newest(self, stored: Mark | None, check: Callable[[], None]) -> Mark:
        if stored is not None:
            is_known, here = await self.marks.look(stored)
            if not is_known:
                raise DatabaseIsOld(DATABASE_IS_OLD.format(stored=stored.value, here=here))
            if stored.value >= here:
                return stored
        newest = await self.marks.record()
        check()
        try:
            await leave_mark(self.store, self.installation, newest)
        except StoreError as error:
            if stored is None:
                raise
            log.debug("the archive store takes no mark", error=str(error))
            return stored
        return newest

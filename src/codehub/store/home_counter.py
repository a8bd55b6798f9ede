"""The counter that is raised with every fact that protects a home, and the marks of it that the archive store has held.

Triggers raise it, in the transaction of the fact: a new archive, one that its owner keeps, a new incarnation of a
volume, a workspace that was brought back. A mark is recorded here before the store gets it, so that in the ordinary
course of things, crashes included, the store never holds a mark that the database does not know; whoever knows a mark
knows every fact that was counted before it."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from codehub.model.mark import Mark

MARKS_KEPT_SECONDS = 86400
"""A leader that was frozen may still leave an older mark in the store; none is away for longer than this."""

_VALUE = text("SELECT value FROM home_counter")
_KNOWS = text("SELECT EXISTS (SELECT FROM home_counter_marks WHERE id = :id)")
_MARK = text("INSERT INTO home_counter_marks (value) SELECT value FROM home_counter RETURNING id, value")
_ADOPT = text("INSERT INTO home_counter_marks (id, value) VALUES (:id, :value) ON CONFLICT DO NOTHING")
_CATCH_UP = text("UPDATE home_counter SET value = greatest(value, :value)")
_BEGIN_EVERY_GRACE_ANEW = text("DELETE FROM orphans")
_FORGET_MARKS = text("""
    DELETE FROM home_counter_marks
    WHERE value < :value AND made_at < clock_timestamp() - make_interval(secs => :seconds)
""")


async def counted(connection: AsyncConnection) -> int:
    value: int = await connection.scalar(_VALUE)
    return value


async def knows(connection: AsyncConnection, mark: Mark) -> bool:
    return bool(await connection.scalar(_KNOWS, {"id": mark.id}))


async def record_mark(connection: AsyncConnection) -> Mark:
    """A mark of all that is committed by now. It may be left in the store once this is committed, too."""
    row = (await connection.execute(_MARK)).one()
    return Mark(row.id, row.value)


async def adopt(connection: AsyncConnection, mark: Mark) -> None:
    """Go on from a mark that this database did not know: an administrator has looked, and takes it as it is. What was
    noted before the backup was restored says nothing any more."""
    await connection.execute(_ADOPT, {"id": mark.id, "value": mark.value})
    await connection.execute(_CATCH_UP, {"value": mark.value})
    await connection.execute(_BEGIN_EVERY_GRACE_ANEW)


async def forget_marks_before(connection: AsyncConnection, mark: Mark) -> None:
    """Those before the one that the store holds, once nobody can be about to put them there any more."""
    await connection.execute(_FORGET_MARKS, {"value": mark.value, "seconds": MARKS_KEPT_SECONDS})


class PostgresMarks:
    """As those see them who compare the database with the archive store."""

    def __init__(self, database: AsyncEngine) -> None:
        self._database = database

    async def look(self, mark: Mark) -> tuple[bool, int]:
        async with self._database.connect() as connection:
            return await knows(connection, mark), await counted(connection)

    async def record(self) -> Mark:
        async with self._database.begin() as connection:
            return await record_mark(connection)

    async def forget_before(self, mark: Mark) -> None:
        async with self._database.begin() as connection:
            await forget_marks_before(connection, mark)

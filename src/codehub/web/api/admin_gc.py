"""The collector, for administrators: what it did, what it would do, and what it asks about."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.archives.counter import read_mark
from codehub.archives.errors import StoreError
from codehub.coordinators.backup_watch import DATABASE_IS_OLD
from codehub.coordinators.gc_round import decide
from codehub.coordinators.observer import RUNTIME_LISTING
from codehub.coordinators.surroundings import look_around
from codehub.decide.orphans import Found
from codehub.model.mark import Mark
from codehub.settings.collecting import collect_policy
from codehub.store import audit, gc_rounds, home_counter
from codehub.store.collector import CollectorReads
from codehub.store.identity import this_installation
from codehub.web.actors import actor_of
from codehub.web.api.answers import NOT_STORED, answer
from codehub.web.api.refusals import BODY, refusals
from codehub.web.api.schemas import gc as schemas
from codehub.web.api.schemas.gc import AlarmCode
from codehub.web.api.workspace_problems import ArchiveStoreAway, Conflict
from codehub.web.callers import Administrator
from codehub.web.idempotency import OnlyOnce
from codehub.web.paging import Limit
from codehub.web.parts import Parts, parts_of
from codehub.web.problems import Missing

router = APIRouter(prefix="/admin/gc", tags=["administration"])

LISTED = 1000
"""Things that a preview names one by one."""


class NothingToConfirm(Conflict):
    code = "nothing_to_confirm"

    def __init__(self) -> None:
        super().__init__("The collector asks about nothing of the kind.")


@router.get("", response_model=schemas.GcState, responses=refusals(401, 403))
async def get_gc(request: Request, _caller: Administrator) -> Response:
    """Whether the collector waits for an administrator, what its last round did, and when the next one is due."""
    return answer(await state(parts_of(request)))


async def state(parts: Parts) -> dict[str, Any]:
    """As `GcState` has it."""
    alarms = await _alarm_of_the_store(parts)
    async with parts.writes.connect() as connection:
        last = await gc_rounds.last_ended(connection)
    if last is not None and last["due"] and last["halted"] and last["confirmed_at"] is None:
        alarms.append({"code": AlarmCode.ROUND_HALTED, "why": last["halted"]})
    interval = timedelta(seconds=parts.settings.coordinator.gc_interval)
    following = last["began_at"] + interval if last is not None else None
    return {"alarms": alarms, "last_round": _round(last), "next_round_at": following}


@router.get("/rounds", response_model=schemas.GcRounds, responses=refusals(401, 403, 422))
async def list_gc_rounds(request: Request, _caller: Administrator, limit: Annotated[Limit, Query()] = 50) -> Response:
    """The newest rounds."""
    return answer({"items": await newest(parts_of(request), limit)})


async def newest(parts: Parts, limit: int) -> list[dict[str, Any] | None]:
    async with parts.writes.connect() as connection:
        return [_round(each) for each in await gc_rounds.newest(connection, limit)]


@router.get("/rounds/{round_id}", response_model=schemas.GcRound, responses=refusals(401, 403, 404, 422))
async def get_gc_round(request: Request, round_id: UUID, _caller: Administrator) -> Response:
    """One round; while it is being made, `ended_at` is null."""
    async with parts_of(request).writes.connect() as connection:
        found = await gc_rounds.one(connection, round_id)
    if found is None:
        raise Missing("There is no such round.")
    return answer(_round(found))


@router.post("/rounds", status_code=202, response_model=schemas.GcRound, responses=refusals(401, 403, 409, 422))
async def ask_for_gc_round(request: Request, caller: Administrator, once: OnlyOnce) -> Response:
    """Ask for a round now. One that is still to be made is that round."""

    async def work(connection: AsyncConnection) -> Response:
        asked = await gc_rounds.ask(connection, caller.login)
        actor = actor_of(request, caller)
        await audit.record(connection, actor, "gc.round", subject_id=asked["id"], subject="collector")
        return answer(_round(asked), 202, {**NOT_STORED, "Location": f"{request.url.path}/{asked['id']}"})

    return await once(caller, work)


@router.get("/preview", response_model=schemas.GcPreview, responses=refusals(401, 403))
async def preview_gc_round(request: Request, _caller: Administrator) -> Response:
    """What a round would do at this moment. Nothing is deleted, and nothing noted."""
    return answer(await preview(parts_of(request)))


async def preview(parts: Parts) -> dict[str, Any]:
    """As `GcPreview` has it."""
    reads = CollectorReads(parts.writes.connect)
    async with parts.writes.connect() as connection:
        installation = await this_installation(connection)
    engine = await reads.engine(RUNTIME_LISTING)
    async with parts.runtime.looking() as runtime:
        try:
            around = await look_around(parts.archives, runtime, installation, engine)
        except StoreError as error:
            raise ArchiveStoreAway from error
    policy = collect_policy(parts.settings.archive, parts.settings.retention)
    noted = await reads.noted_orphans()
    decision = await decide(around, reads, policy, confirmed=0)
    return {
        "seen": len(around.found),
        "take": [_thing(each, noted) for each in decision.take[:LISTED]],
        "wait": [_thing(each, noted) for each in (*decision.wait, *decision.note)[:LISTED]],
        "kept": Counter(str(each.why) for each in decision.keep),
        "due": decision.due,
        "halted": decision.halted,
    }


@router.post("/confirm", response_model=schemas.GcRound, responses=refusals(*BODY, 401, 403, 409))
async def confirm_gc(request: Request, body: schemas.Confirmation, caller: Administrator, once: OnlyOnce) -> Response:
    """Let the collector go on after an administrator has looked: with one round that takes as many as the last one was
    halted over, or with a database that was restored from a backup. The next round follows at once."""
    stored, _, known = await _compared(parts_of(request))

    async def work(connection: AsyncConnection) -> Response:
        if body.alarm is AlarmCode.ROUND_HALTED:
            if await gc_rounds.confirm(connection, caller.login) is None:
                raise NothingToConfirm
        elif stored is None or known:
            raise NothingToConfirm
        else:
            await home_counter.adopt(connection, stored)
        asked = await gc_rounds.ask(connection, caller.login)
        await audit.record(
            connection,
            actor_of(request, caller),
            "gc.confirm",
            subject_id=asked["id"],
            subject="collector",
            alarm=body.alarm,
        )
        return answer(_round(asked))

    return await once(caller, work)


async def _alarm_of_the_store(parts: Parts) -> list[dict[str, str]]:
    try:
        stored, here, known = await _compared(parts)
    except ArchiveStoreAway as away:
        return [{"code": AlarmCode.STORE_AWAY, "why": str(away.__cause__)}]
    if stored is None or known:
        return []
    return [{"code": AlarmCode.DATABASE_IS_OLD, "why": DATABASE_IS_OLD.format(stored=stored.value, here=here)}]


async def _compared(parts: Parts) -> tuple[Mark | None, int, bool]:
    """The mark in the store, the counter here, and whether the one is known here."""
    async with parts.writes.connect() as connection:
        installation = await this_installation(connection)
    try:
        stored = await read_mark(parts.archives, installation)
    except StoreError as error:
        raise ArchiveStoreAway from error
    async with parts.writes.connect() as connection:
        known = stored is None or await home_counter.knows(connection, stored)
        return stored, await home_counter.counted(connection), known


def _round(row: Any) -> dict[str, Any] | None:  # noqa: ANN401 (a row of the table, or none)
    return {name: row[name] for name in schemas.GcRound.model_fields} if row is not None else None


def _thing(found: Found, noted: dict[Found, datetime]) -> dict[str, Any]:
    return {
        "kind": found.kind,
        "key": found.key,
        "workspace_id": found.workspace_id,
        "unprotected_since": noted.get(found),
    }

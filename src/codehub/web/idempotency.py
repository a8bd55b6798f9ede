"""Requests that may be sent again. A client that got no answer does not know whether its request was done: with an
`Idempotency-Key` it sends the same again, and gets the answer of the first."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request, Response
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.accounts import Caller
from codehub.store import replays
from codehub.store.seat import LOCK_NOT_AVAILABLE
from codehub.web.parts import parts_of
from codehub.web.problems import Refused

REPLAYED = "Idempotency-Replayed"
Work = Callable[[AsyncConnection], Awaitable[Response]]


class KeyReused(Refused):
    """Under this key something else was asked for."""

    status = 422
    code = "idempotency_key_reused"

    def __init__(self) -> None:
        super().__init__("This Idempotency-Key belongs to another request.")


class InProgress(Refused):
    status = 409
    code = "in_progress"

    def __init__(self) -> None:
        super().__init__("The first request with this Idempotency-Key is still being worked on.")


@dataclass(frozen=True)
class Once:
    """Does what a request asks for in one transaction, and with a key only once."""

    request: Request
    key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            min_length=1,
            max_length=255,
            pattern="^[!-~]+$",
            description="Any word that names this request, a random one best. Sent again with the same key within 24"
            " hours, nothing is done twice: the first answer comes again. What was refused is tried anew.",
            examples=["8f14e45f-ceea-467f-9c2b-5b6a4c3f0c11"],
        ),
    ] = None

    async def __call__(self, caller: Caller, work: Work) -> Response:
        """Its answer is committed together with what was done. A refusal or a crash leaves neither."""
        async with parts_of(self.request).writes.begin() as connection:
            if self.key is None:
                return await work(connection)
            kept = await self._claimed(connection, caller, self.key)
            if kept is not None:
                return _again(kept)
            response = await work(connection)
            answer = replays.Answer(response.status_code, _told(response), bytes(response.body))
            await replays.keep(connection, caller.user_id, self.key, answer)
            return response

    async def _claimed(self, connection: AsyncConnection, caller: Caller, key: str) -> replays.Answer | None:
        asked = f"{self.request.method} {self.request.url.path}?{self.request.url.query}\n".encode()
        fingerprint = hashlib.sha256(asked + await self.request.body()).digest()
        try:
            kept = await replays.claim(connection, caller.user_id, key, fingerprint)
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE:
                raise InProgress from error
            raise
        if kept is not None and kept.fingerprint != fingerprint:
            raise KeyReused
        return kept.answer if kept is not None else None


OnlyOnce = Annotated[Once, Depends(Once)]


def _told(response: Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name != "content-length"}


def _again(answer: replays.Answer) -> Response:
    return Response(answer.body, answer.status, {**answer.headers, REPLAYED: "true"})

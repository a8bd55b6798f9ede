"""Those who have shown who they are, by the secret that they carry. Remembered while nobody has lost a right."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from codehub import clock
from codehub.store.away import FOREIGN

MOST = 10_000
"""Secrets that are remembered; each is a few hundred bytes."""
STRANGER_SECONDS = 1.0
"""For how long a secret that is not good is not asked about again."""
FRESH_SECONDS = 30.0
"""After this a good one is asked about again, beside the requests: its use is noted, and its end may have moved."""


@dataclass(frozen=True, slots=True)
class Guest:
    proof_id: UUID
    """The session or token by which they are let in."""
    user_id: UUID
    workspace_id: UUID | None
    """The one that they may enter; None for any of their own."""
    may_enter: bool
    until: float
    """When that ends, as a time of day in seconds."""


class _Remembered:
    __slots__ = ("at", "guest")

    def __init__(self, guest: Guest | None, at: float) -> None:
        self.guest = guest
        self.at = at


class Guests:
    def __init__(self, look_up: Callable[[str], Awaitable[Guest | None]]) -> None:
        self._look_up = look_up
        self._remembered: dict[bytes, _Remembered] = {}
        self._asking: dict[bytes, asyncio.Task[Guest | None]] = {}
        self._changes = 0
        """How often somebody has lost a right: what was asked before one of them may be wrong after it."""

    def known(self, secret: bytes, now: float) -> tuple[bool, Guest | None]:
        """Whether it is known who this is, and who. Never waits."""
        found = self._remembered.get(secret)
        if found is None:
            return False, None
        guest = found.guest
        if guest is None:
            return now - found.at < STRANGER_SECONDS, None
        if now - found.at > FRESH_SECONDS and secret not in self._asking:
            found.at = now - FRESH_SECONDS + STRANGER_SECONDS  # where it cannot be answered, again only then
            self._ask(secret).add_done_callback(_heard)
        return (True, guest) if clock.now().timestamp() < guest.until else (False, None)

    async def find_out(self, secret: bytes) -> Guest | None:
        """Ask the database; who asks about the same one meanwhile waits for the same answer. Raises what it does."""
        return await asyncio.shield(self._asking.get(secret) or self._ask(secret))

    def _ask(self, secret: bytes) -> asyncio.Task[Guest | None]:
        asking = asyncio.create_task(self._find_out(secret), name="who is this")
        self._asking[secret] = asking
        return asking

    async def _find_out(self, secret: bytes) -> Guest | None:
        try:
            while True:
                changes = self._changes
                guest = await self._look_up(secret.decode("ascii"))
                if changes == self._changes:
                    break
        finally:
            self._asking.pop(secret, None)
        if len(self._remembered) >= MOST:
            self._remembered.clear()
        self._remembered[secret] = _Remembered(guest, clock.elapsed())
        return guest

    def proofs(self) -> Iterable[UUID]:
        return (each.guest.proof_id for each in self._remembered.values() if each.guest is not None)

    def somebody_lost_a_right(self) -> None:
        self._changes += 1

    def keep_only(self, good: Collection[UUID], asked: Collection[UUID]) -> None:
        """Of those that were asked about, forget all that are no longer good."""
        gone = [
            secret
            for secret, each in self._remembered.items()
            if each.guest is not None and each.guest.proof_id in asked and each.guest.proof_id not in good
        ]
        for secret in gone:
            del self._remembered[secret]


def _heard(asking: asyncio.Task[Guest | None]) -> None:
    """Asked beside the requests, nobody waits for it: a database that is away is noticed elsewhere."""
    if not asking.cancelled() and (error := asking.exception()) is not None and not isinstance(error, FOREIGN):
        raise error

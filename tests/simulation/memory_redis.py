"""The twin of Redis as far as activity and page events use it. `tests/bus/test_activity.py` runs on both."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from codehub.bus.activity import TELL
from codehub.bus.activity_watch import FORGET, LOOK
from codehub.bus.page_events import SAY

SCRIPTS = {TELL: "tell", LOOK: "look", FORGET: "forget", SAY: "publish"}


class MemoryRedis:
    """A script is one step that nothing interrupts, as on the server."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.sets: dict[str, dict[str, float]] = {}
        self.hashes: dict[str, dict[str, str]] = {}
        self.epochs: dict[str, int] = {}
        self.subscribers: list[Callable[[str, bytes], None]] = []
        self._starts = 1

    def restart(self) -> None:
        """With nothing of what it had."""
        self.sets.clear()
        self.hashes.clear()
        self.epochs.clear()
        self._starts += 1

    async def info(self, _section: str) -> dict[str, str]:
        await asyncio.sleep(0)
        return {"run_id": str(self._starts)}

    async def eval(self, script: str, number: int, *words: str | bytes | int) -> Any:  # noqa: ANN401 (as Redis answers)
        texts = [each.decode() if isinstance(each, bytes) else str(each) for each in words]
        name = SCRIPTS[script]
        await self._about_to(name)
        answer = getattr(self, f"_{name}")(texts[:number], texts[number:])
        await self._has_done(name)
        return answer

    async def mget(self, keys: Sequence[str]) -> list[bytes | None]:
        """Nobody keeps a note about work under way."""
        await asyncio.sleep(0)
        return [None] * len(keys)

    async def _about_to(self, name: str) -> None:  # noqa: ARG002
        await asyncio.sleep(0)

    async def _has_done(self, name: str) -> None:  # noqa: ARG002
        await asyncio.sleep(0)

    # The scripts.

    def _tell(self, keys: Sequence[str], words: Sequence[str]) -> None:
        signs, kinds, doors, processes = (
            self.sets.setdefault(keys[0], {}),
            self.hashes.setdefault(keys[1], {}),
            self.sets.setdefault(keys[2], {}),
            self.hashes.setdefault(keys[3], {}),
        )
        (name, process, state), now = words[:3], self.clock()
        for member, ago, kind in zip(words[3::3], words[4::3], words[5::3], strict=True):
            if now - float(ago) > signs.get(member, float("-inf")):
                signs[member], kinds[member] = now - float(ago), kind
        if state == "arriving":
            processes[name] = process
        processes.setdefault(name, process)
        if state != "leaving":
            doors[name] = now
        elif processes[name] == process:
            doors.pop(name, None)
            del processes[name]

    def _look(self, keys: Sequence[str], words: Sequence[str]) -> list[Any]:
        signs, kinds, doors = self.sets.get(keys[0], {}), self.hashes.get(keys[1], {}), self.sets.get(keys[2], {})
        (server, forgotten_after, database_now, set_by), now = words, self.clock()
        for name in [each for each, spoke in doors.items() if spoke <= now - float(forgotten_after)]:
            del doors[name]
        watch = self.hashes.get(keys[4], {})
        if not doors:
            self.hashes.pop(keys[4], None)
        else:
            ahead = float(database_now) - now
            if watch.get("server") != server or abs(ahead - float(watch.get("ahead", ahead))) > float(set_by):
                watch = {"since": repr(now), "server": server}
            self.hashes[keys[4]] = watch = {**watch, "ahead": repr(ahead)}
        since = watch.get("since", "").encode() or None
        told = [kinds[each].encode() if each in kinds else None for each in signs]
        return [repr(now).encode(), since, _with_scores(doors), _with_scores(signs), told]

    def _forget(self, keys: Sequence[str], words: Sequence[str]) -> None:
        """What was told meanwhile has another score, and stays for the next look."""
        signs, kinds = self.sets.get(keys[0], {}), self.hashes.get(keys[1], {})
        for member, score in zip(words[::2], words[1::2], strict=True):
            if signs.get(member) == float(score):
                del signs[member]
                kinds.pop(member, None)

    def _publish(self, keys: Sequence[str], words: Sequence[str]) -> None:
        epoch, fenced, said = int(words[0]), words[1], words[2:]
        if fenced and self.epochs.get(keys[0], epoch) > epoch:
            return
        self.epochs[keys[0]] = epoch
        for channel, message in zip(said[::2], said[1::2], strict=True):
            for hear in self.subscribers:
                hear(channel, message.encode())

    # What tests set by hand.

    async def zadd(self, key: str, scores: dict[str, float]) -> None:
        self.sets.setdefault(key, {}).update(scores)

    async def zincrby(self, key: str, by: float, member: str) -> None:
        self.sets[key][member] += by

    async def hset(self, key: str, name: str, value: str) -> None:
        self.hashes.setdefault(key, {})[name] = value

    async def hincrbyfloat(self, key: str, name: str, by: float) -> None:
        self.hashes[key][name] = str(float(self.hashes[key][name]) + by)

    async def exists(self, *keys: str) -> int:
        return sum(bool(self.sets.get(key) or self.hashes.get(key)) for key in keys)

    async def delete(self, *keys: str) -> None:
        for key in keys:
            self.sets.pop(key, None)
            self.hashes.pop(key, None)


def _with_scores(members: dict[str, float]) -> list[bytes]:
    return [word.encode() for member, score in members.items() for word in (member, repr(score))]

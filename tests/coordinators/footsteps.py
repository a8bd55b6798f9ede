"""Whatever somebody asks of the parts that they work with, by name, and what a test does to them at such a step."""

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

PARTS = ("volumes", "instances", "jobs")
"""Of a runtime: each is asked for itself."""


@dataclass
class Footsteps:
    taken: list[str] = field(default_factory=list)
    """Every step, once, in the order in which they were first taken."""
    traps: dict[str, Callable[[], Awaitable[None]]] = field(default_factory=dict)
    """What happens before a step has its effect, the first time that it is to be taken."""

    def reached(self, name: str, part: Any) -> Any:  # noqa: ANN401 (a part of any kind, and the same to look at)
        """The part, or the function, as those reach it whose steps are heard."""
        return self._heard(name, part) if inspect.isfunction(getattr(part, "func", part)) else Heard(self, name, part)

    def _heard(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        async def one(*values: Any, **named: Any) -> Any:  # noqa: ANN401
            await self._step(name, values)
            return await call(*values, **named)

        async def many(*values: Any, **named: Any) -> AsyncGenerator[Any, None]:  # noqa: ANN401
            await self._step(name, values)
            async with aclosing(call(*values, **named)) as found:
                async for each in found:
                    yield each

        return many if inspect.isasyncgenfunction(call) else one

    async def _step(self, name: str, values: tuple[Any, ...]) -> None:
        about = PurePosixPath(values[0]).suffix if values and isinstance(values[0], str) else ""
        step = f"{name} {about}".strip()
        if step not in self.taken:
            self.taken.append(step)
        trap = self.traps.pop(step, None)
        if trap is not None:
            await trap()


@dataclass
class Heard:
    footsteps: Footsteps
    name: str
    part: Any

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        found = getattr(self.part, name)
        return self.footsteps.reached(f"{self.name}.{name}", found) if name in PARTS else self._call(name, found)

    def _call(self, name: str, found: Any) -> Any:  # noqa: ANN401
        asks = inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found)
        return self.footsteps._heard(f"{self.name}.{name}", found) if asks else found

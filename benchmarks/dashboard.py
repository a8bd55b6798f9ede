"""The dashboard of somebody with 500 workspaces in a real browser: how soon it is painted, how it answers clicks and
keys while a hundred changes a second are told to it. The figures are the browser's own (PerformanceObserver).

Run it on a quiet machine: python -m benchmarks.dashboard [--workspaces 500] [--changes 100] [--seconds 10]"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

import asyncpg
from argon2 import PasswordHasher
from benchmarks.api import serving
from benchmarks.stage import Figure, arguments, ground, percentile, progress, run
from benchmarks.streams import listener
from playwright.async_api import Page
from tests.folders import short_folder
from tests.front_door.chromium import chromium

LOGIN, PASSWORD = "ada", "correct horse battery staple"
VISITS = 10
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
WATCH = """() => {
  window.tasks = [];
  window.inputs = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map((each) => each.duration)))
    .observe({ type: "longtask" });
  new PerformanceObserver((list) => inputs.push(...list.getEntries().map((each) => each.duration)))
    .observe({ type: "event", durationThreshold: 16 });
}"""
_CHANGE = "UPDATE workspaces SET description = $2 WHERE id = $1"


@dataclass(frozen=True)
class Options:
    workspaces: int
    changes: int
    seconds: int


async def furnish(database: asyncpg.Connection, number: int) -> list[UUID]:
    """Somebody with so many workspaces, the newest last."""
    user, made = uuid4(), [uuid4() for _ in range(number)]
    hashed = PasswordHasher().hash(PASSWORD)
    await database.execute("INSERT INTO users (id, login, password_hash) VALUES ($1, $2, $3)", user, LOGIN, hashed)
    await database.executemany(
        "INSERT INTO workspaces (id, owner_user_id, name, desired_state, phase, created_at)"
        " VALUES ($1, $2, $3, 'STANDBY', 'STANDBY', clock_timestamp())",
        [(each, user, f"workspace {at}") for at, each in enumerate(made)],
    )
    await database.execute("VACUUM ANALYZE")
    return made


async def burst(database: asyncpg.Connection, shown: Sequence[UUID], options: Options) -> None:
    for number in range(options.changes * options.seconds):
        await database.execute(_CHANGE, random.choice(shown), f"change {number}")  # noqa: S311
        await asyncio.sleep(1 / options.changes)


async def use(page: Page) -> None:
    """What somebody does there for as long as it takes to be cancelled."""
    while True:
        await page.locator(".card summary").first.click()
        await page.keyboard.press("Escape")
        await page.get_by_role("searchbox").press_sequentially("1")
        await page.get_by_role("searchbox").press("Backspace")


async def painted(page: Page, address: str) -> list[float]:
    """When each of several visits showed something."""
    seen = []
    for _ in range(VISITS):
        await page.goto(address)
        await page.wait_for_selector(".card")
        seen.append(await page.evaluate(PAINTED))
    return seen


async def measure(options: Options) -> list[Figure]:
    with short_folder() as folder:
        async with ground() as services, listener(services), serving(services, folder) as server, chromium() as browser:
            database = await asyncpg.connect(services.database_url)
            made = await furnish(database, options.workspaces)
            page = await (await browser.new_context(viewport={"width": 1200, "height": 800})).new_page()
            address = f"http://localhost:{server.port}/"
            await log_in(page, address)
            progress(f"{VISITS} visits")
            paints = await painted(page, address)
            progress(f"{options.changes} changes per second for {options.seconds} s")
            await page.evaluate(WATCH)
            using = asyncio.create_task(use(page))
            await burst(database, made[-50:], options)
            using.cancel()
            await asyncio.wait([using])
            tasks, inputs = await page.evaluate("[tasks, inputs]")
            await database.close()
    return [
        Figure(f"first paint with {options.workspaces} workspaces, p50", percentile(paints, 0.5), "ms", at_most=300),
        Figure("longest task in the burst", max(tasks, default=0), "ms", at_most=200),
        Figure("click or key to the next paint in the burst, p95", percentile(inputs or [0], 0.95), "ms", at_most=200),
        Figure("the slowest of them", max(inputs, default=0), "ms"),
        Figure("clicks and keys that took 16 ms or more", len(inputs), ""),
    ]


async def log_in(page: Page, address: str) -> None:
    await page.goto(address)
    await page.fill("#login", LOGIN)
    await page.fill("#password", PASSWORD)
    await page.click("[data-submit]")
    await page.wait_for_selector(".card")


if __name__ == "__main__":
    given = arguments(__doc__, workspaces=500, changes=100, seconds=10)
    run(measure(Options(given.workspaces, given.changes, given.seconds)))

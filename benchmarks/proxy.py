"""The front door beside HAProxy, which does the same work with maps, and configurable-http-proxy, which only routes:
1 KB answers over 8 and 64 connections, WebSocket echo, 1 MB answers, 10,000 routes beside 10, and idle WebSockets.

Each proxy has one core, everything else the other; slices of one second are taken in turn, and CPU per operation is
measured beside the rate. Needs the Debian packages nginx-light, haproxy, gcc and npm.

Run it on a quiet machine: python -m benchmarks.proxy [--slices 7] [--sockets 5000]"""

import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import proxy_peers
from benchmarks.proxy_peers import Candidate
from benchmarks.stage import Figure, arguments, progress, run
from tests.folders import short_folder

WORKSPACES = 100
ROUTES = 10_000
FEW_ROUTES = 10
SLICE_SECONDS = 1.0
ON_OTHER_CORE = ("taskset", "-c", str(proxy_peers.OTHER_CORE))
HEAD = """\
GET {target} HTTP/1.1
Host: {host}
Connection: keep-alive
Pragma: no-cache
Cache-Control: no-cache
sec-ch-ua: "Chromium";v="150", "Not.A/Brand";v="24"
sec-ch-ua-mobile: ?0
User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36
Accept: */*
Sec-Fetch-Site: same-origin
Sec-Fetch-Mode: cors
Sec-Fetch-Dest: script
Referer: http://{host}/
Accept-Encoding: gzip, deflate, br
Accept-Language: en-US,en;q=0.9
Cookie: a=b; codehub-workspace={secret}; c=d

"""
NO_TWO_ALIKE = HEAD.replace("Cookie:", 'If-None-Match: "{number}"\nCookie:').replace("{target}", "/many/{file}")
UPGRADE = """\
GET /socket HTTP/1.1
Host: {host}
Connection: Upgrade
Upgrade: websocket
Origin: http://{host}
Sec-WebSocket-Version: 13
Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
Cookie: a=b; codehub-workspace={secret}; c=d

"""


@dataclass
class Series:
    """What one candidate did in one test, slice by slice."""

    rates: list[float] = field(default_factory=list)
    cpu_us: list[float] = field(default_factory=list)
    p50_ms: list[float] = field(default_factory=list)
    p99_ms: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{median(self.rates):>9.0f}/s  {median(self.cpu_us):>8.1f} us CPU  "
            f"p50 {median(self.p50_ms):.2f} ms  p99 {median(self.p99_ms):.2f} ms"
        )


@dataclass(frozen=True)
class Test:
    name: str
    mode: str
    connections: int
    requests: Path


class Bench:
    def __init__(self, folder: Path, load: str, slices: int) -> None:
        self._folder = folder
        self._load = load
        self._slices = slices

    def requests(self, name: str, tables: dict[str, Any], template: str, count: int = WORKSPACES, **words: str) -> Path:
        """A file of so many requests: each of the workspaces in turn, by its owner."""
        secrets = {owner: secret for secret, owner in tables["sessions"].items()}
        path = self._folder / f"{name}.requests"
        places = list(tables["places"].items())
        heads = [
            template.format(host=host, secret=secrets[owner], number=number, file=number % proxy_peers.FILES, **words)
            for number, (host, (owner, _)) in enumerate(places * (count // len(places)))
        ]
        path.write_bytes("".join(heads).replace("\n", "\r\n").encode())
        return path

    async def compare(self, test: Test, candidates: Sequence[Candidate]) -> dict[str, Series]:
        """Slices of each in turn, so that all of them meet the same weather."""
        found = {each.name: Series() for each in candidates}
        for candidate in candidates:
            await self.one_slice(test, candidate)  # connections, caches and compilers get warm
        for _ in range(self._slices):
            for candidate in candidates:
                before = candidate.cpu_seconds()
                seen = await self.one_slice(test, candidate)
                used = candidate.cpu_seconds() - before
                series = found[candidate.name]
                series.rates.append(seen["answers"] / seen["seconds"])
                series.cpu_us.append(used / max(1, seen["answers"]) * 1e6)
                series.p50_ms.append(seen["p50"] * 1000)
                series.p99_ms.append(seen["p99"] * 1000)
        for name, series in found.items():
            progress(f"{test.name:<24} {name:<24} {series}")
        return found

    async def one_slice(self, test: Test, candidate: Candidate) -> dict[str, Any]:
        seen = await self._run(test.mode, candidate, test.connections, SLICE_SECONDS, test.requests)
        if seen["failures"]:
            sys.exit(f"{candidate.name} failed {seen['failures']} times in {test.name}")
        return seen

    async def _run(self, mode: str, candidate: Candidate, count: int, seconds: float, requests: Path) -> dict[str, Any]:
        words = (mode, str(candidate.port), str(count), str(seconds), str(requests))
        process = await asyncio.create_subprocess_exec(
            *ON_OTHER_CORE, self._load, *words, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
        found: dict[str, Any] = json.loads(output)
        return found

    async def idle_kb(self, candidate: Candidate, sockets: int, requests: Path) -> float:
        """Resident memory for each of so many WebSockets that say nothing."""
        before = candidate.resident_kb()
        words = ("hold", str(candidate.port), str(sockets), "3", str(requests))
        process = await asyncio.create_subprocess_exec(
            *ON_OTHER_CORE, self._load, *words, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        opened = json.loads(await process.stdout.readline())
        if opened["failures"]:
            sys.exit(f"{candidate.name} did not open {sockets} WebSockets")
        held = candidate.resident_kb() - before
        await process.wait()
        return held / sockets


def tables_of(count: int, files: int) -> dict[str, Any]:
    """So many workspaces, each of somebody, all with the files of one server."""
    people = [f"person{number}" for number in range(WORKSPACES)]
    places = {f"{number:032x}.dev.test": [people[number % WORKSPACES], files] for number in range(count)}
    return {"places": places, "sessions": {f"{person}-{'s' * 36}": person for person in people}}


async def measure(slices: int, sockets: int) -> list[Figure]:
    if missing := proxy_peers.missing():
        sys.exit(f"install first: {' '.join(missing)}")
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(short_folder())
        load = proxy_peers.compiled(folder)
        files, echo = await stack.enter_async_context(proxy_peers.backends(folder, load))
        bench = Bench(folder, load, slices)
        figures = await _compare_http(bench, folder, files, stack)
        figures += await _compare_websockets(bench, folder, echo, sockets, stack)
        figures += await _compare_routes(bench, folder, files, stack)
    return figures


async def _candidates(folder: Path, name: str, tables: dict[str, Any], stack: AsyncExitStack) -> list[Candidate]:
    place = folder / name
    place.mkdir()
    document = place / "tables.json"
    document.write_text(json.dumps(tables))
    return [
        await stack.enter_async_context(proxy_peers.front_door(place, document)),
        await stack.enter_async_context(proxy_peers.haproxy(place, tables)),
        await stack.enter_async_context(proxy_peers.configurable_http_proxy(place, tables)),
    ]


async def _compare_http(bench: Bench, folder: Path, files: int, stack: AsyncExitStack) -> list[Figure]:
    tables = tables_of(WORKSPACES, files)
    candidates = await _candidates(folder, "files", tables, stack)
    small = bench.requests("1k", tables, HEAD, target="/1k")
    large = bench.requests("1m", tables, HEAD, target="/1m")
    many = await bench.compare(Test("1 KB, 64 connections", "http", 64, small), candidates)
    few = await bench.compare(Test("1 KB, 8 connections", "http", 8, small), candidates)
    unlike = bench.requests("unlike", tables, NO_TWO_ALIKE, count=20_000)
    new = await bench.compare(Test("1 KB, no two heads alike", "http", 64, unlike), candidates)
    megabytes = await bench.compare(Test("1 MB, 8 connections", "http", 8, large), candidates)
    return [
        *_beside("1 KB", many, slower=0.65),
        *_beside("1 KB, no two heads alike", new),
        _ratio("1 KB: requests/s beside configurable-http-proxy", many, "rates", at_least=5),
        _ratio("1 KB: CPU beside configurable-http-proxy", many, "cpu_us", at_most=0.15),
        _ratio("1 KB, 64 connections: p99 beside configurable-http-proxy", many, "p99_ms", at_most=1),
        _ratio("1 KB, 8 connections: p99 beside configurable-http-proxy", few, "p99_ms", at_most=1),
        *_beside("1 MB", megabytes, slower=0.9),
    ]


async def _compare_websockets(
    bench: Bench, folder: Path, echo: int, sockets: int, stack: AsyncExitStack
) -> list[Figure]:
    tables = tables_of(WORKSPACES, echo)
    candidates = await _candidates(folder, "sockets", tables, stack)
    upgrades = bench.requests("upgrades", tables, UPGRADE)
    found = await bench.compare(Test("WebSocket echo, 64", "echo", 64, upgrades), candidates)
    held = {each.name: await bench.idle_kb(each, sockets, upgrades) for each in candidates}
    for name, kilobytes in held.items():
        progress(f"{sockets} idle WebSockets    {name:<24} {kilobytes:.1f} KB each")
    return [
        *_beside("WebSocket echo", found, slower=0.95),
        Figure(f"idle WebSocket of {sockets}", held["codehub"], "KB", at_most=6),
    ]


async def _compare_routes(bench: Bench, folder: Path, files: int, stack: AsyncExitStack) -> list[Figure]:
    found = []
    for count in (FEW_ROUTES, ROUTES):
        tables = tables_of(count, files)
        document = folder / f"{count}.json"
        document.write_text(json.dumps(tables))
        candidate = await stack.enter_async_context(proxy_peers.front_door(folder, document))
        found.append(Candidate(f"{count} routes", candidate.port, candidate.pid))
    few = tables_of(FEW_ROUTES, files)
    requests = bench.requests("routes", few, HEAD, target="/1k")
    series = await bench.compare(Test("routes", "http", 64, requests), found)
    beside = [median(series[each.name].cpu_us) for each in found]
    return [Figure(f"CPU with {ROUTES} routes beside {FEW_ROUTES}", beside[1] / beside[0], "x", at_most=1.05)]


def _beside(name: str, found: dict[str, Series], slower: float | None = None) -> list[Figure]:
    ours, theirs = found["codehub"], found["haproxy"]
    return [
        Figure(f"{name}: rate beside HAProxy", median(ours.rates) / median(theirs.rates), "x", at_least=slower),
        Figure(f"{name}: CPU of HAProxy beside ours", median(theirs.cpu_us) / median(ours.cpu_us), "x"),
    ]


def _ratio(
    name: str, found: dict[str, Series], what: str, at_least: float | None = None, at_most: float | None = None
) -> Figure:
    ours, theirs = (median(getattr(found[each], what)) for each in ("codehub", "configurable-http-proxy"))
    return Figure(name, ours / theirs, "x", at_least=at_least, at_most=at_most)


if __name__ == "__main__":
    chosen = arguments(__doc__, slices=7, sockets=5000)
    run(measure(chosen.slices, chosen.sockets))

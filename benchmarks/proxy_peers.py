"""The proxies that the front door is compared with, and what stands behind all of them, each on one core."""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

CACHE = Path("~/.cache/codehub-benchmarks").expanduser()
PROXY_CORE, OTHER_CORE = 0, 1
START_SECONDS = 30
FILES = 2000

NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 20000; }}
http {{ access_log off; keepalive_requests 1000000000; keepalive_timeout 75s; sendfile on; tcp_nopush on;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/temp; fastcgi_temp_path {folder}/temp;
  uwsgi_temp_path {folder}/temp; scgi_temp_path {folder}/temp;
  server {{ listen 127.0.0.1:{port} backlog=4096; root {folder}/www; }} }}
"""

# Everything that the front door does for a request, done with maps: who is asked for, who asks and whether they may,
# our cookie taken out, forged headers taken out and ours put in, activity noted, our cookies taken out of answers.
HAPROXY = """
global
  nbthread 1
  maxconn 9000
  log stdout format raw local0 emerg
defaults
  mode http
  timeout connect 5s
  timeout client 75s
  timeout server 1h
  timeout tunnel 1h
  timeout http-request 10s
  timeout http-keep-alive 75s
  http-reuse always
frontend door
  bind 127.0.0.1:{port} backlog 4096
  http-request set-var(txn.user) req.cook(codehub-workspace),map_str({folder}/sessions.map)
  http-request set-var(txn.owner) req.hdr(host),lower,map_str({folder}/owners.map)
  http-request deny deny_status 401 unless {{ var(txn.user) -m found }}
  http-request deny deny_status 404 unless {{ var(txn.owner) -m found }}
  http-request deny deny_status 404 unless {{ var(txn.user),strcmp(txn.owner) eq 0 }}
  http-request track-sc0 req.hdr(host) table activity
  http-request del-header x-forwarded- -m beg
  http-request del-header x-codehub- -m beg
  http-request del-header forwarded
  http-request del-header x-real-ip
  http-request replace-header Cookie '^(.*; *)?codehub[^=;]*=[^;]*(?:; *(.*))?$' '\\1\\2'
  http-request set-header X-Forwarded-Proto http
  http-request set-header X-Forwarded-Host %[req.hdr(host)]
  http-response del-header set-cookie if {{ res.hdr(set-cookie) -m beg codehub }}
  option forwardfor
  http-request set-dst var(txn.owner),map_str_ip({folder}/addresses.map)
  http-request set-dst-port req.hdr(host),lower,map_str_int({folder}/ports.map)
  default_backend places
backend activity
  stick-table type string len 64 size 100k expire 1h store http_req_cnt,bytes_in_cnt
backend places
  server place 0.0.0.0:0
"""


@dataclass(frozen=True)
class Candidate:
    name: str
    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """Of all its threads, to the nanosecond."""
        threads = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((each / "schedstat").read_text().split()[0]) for each in threads) / 1e9

    def resident_kb(self) -> int:
        line = next(line for line in Path(f"/proc/{self.pid}/status").read_text().splitlines() if line[:6] == "VmRSS:")
        return int(line.split()[1])


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


@asynccontextmanager
async def process(command: Sequence[str], port: int, core: int, log: Path) -> AsyncIterator[int]:
    """A program on one core, until it listens; its process id."""
    with log.open("wb") as output:
        started = await asyncio.create_subprocess_exec(
            "taskset", "-c", str(core), *command, stdout=output, stderr=output
        )
    try:
        async with asyncio.timeout(START_SECONDS):
            while not _listens(port):
                if started.returncode is not None:
                    sys.exit(f"{command[0]} ended: {_last_words(log)}")
                await asyncio.sleep(0.05)
        yield started.pid
    finally:
        if started.returncode is None:
            started.kill()
            await started.wait()


def _last_words(log: Path) -> str:
    return log.read_text()[-2000:]


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def compiled(folder: Path) -> str:
    """The load generator. It is C, so that it does not become what is measured."""
    program = folder / "load"
    subprocess.run(["cc", "-O2", "-o", program, Path(__file__).parent / "load.c"], check=True)
    return str(program)


@asynccontextmanager
async def backends(folder: Path, load: str) -> AsyncIterator[tuple[int, int]]:
    """The ports of a web server with files of 1 KB and 1 MB, and of something that echoes WebSocket messages."""
    www = folder / "www"
    www.mkdir()
    (www / "1k").write_bytes(b"x" * 1024)
    (www / "1m").write_bytes(b"x" * 2**20)
    (www / "many").mkdir()
    for number in range(FILES):
        (www / "many" / str(number)).write_bytes(b"x" * 1024)
        os.utime(www / "many" / str(number), (0, number))  # each is answered with a date and a tag of its own
    files, echo = free_port(), free_port()
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=files))
    nginx = ["nginx", "-c", str(folder / "nginx.conf"), "-e", str(folder / "nginx.log")]
    async with (
        process(nginx, files, OTHER_CORE, folder / "nginx.out"),
        process([load, "serve", str(echo)], echo, OTHER_CORE, folder / "echo.out"),
    ):
        yield files, echo


@asynccontextmanager
async def front_door(folder: Path, tables: Path) -> AsyncIterator[Candidate]:
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.proxy_keeper", str(port), str(tables)]
    async with process(command, port, PROXY_CORE, folder / f"{tables.stem}.out") as pid:
        yield Candidate("codehub", port, pid)


@asynccontextmanager
async def haproxy(folder: Path, tables: Mapping[str, Mapping[str, object]]) -> AsyncIterator[Candidate]:
    port = free_port()
    places: Mapping[str, object] = tables["places"]
    owners = {host: place[0] for host, place in places.items() if isinstance(place, list)}
    maps = {
        "sessions": tables["sessions"],
        "owners": owners,
        "ports": {host: place[1] for host, place in places.items() if isinstance(place, list)},
        "addresses": dict.fromkeys(owners.values(), "127.0.0.1"),
    }
    for name, entries in maps.items():
        (folder / f"{name}.map").write_text("".join(f"{key} {value}\n" for key, value in entries.items()))
    (folder / "haproxy.cfg").write_text(HAPROXY.format(folder=folder, port=port))
    command = ["haproxy", "-db", "-f", str(folder / "haproxy.cfg")]
    async with process(command, port, PROXY_CORE, folder / "haproxy.out") as pid:
        yield Candidate("haproxy", port, pid)


@asynccontextmanager
async def configurable_http_proxy(folder: Path, tables: Mapping[str, Mapping[str, object]]) -> AsyncIterator[Candidate]:
    """Routes by host, and nothing else: it knows no users."""
    program = CACHE / "node_modules" / ".bin" / "configurable-http-proxy"
    if not program.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(CACHE), "configurable-http-proxy"]
        await (await asyncio.create_subprocess_exec(*install)).wait()
    port, api = free_port(), free_port()
    ports = ["--ip", "127.0.0.1", "--port", str(port), "--api-port", str(api)]
    options = ["--host-routing", "--log-level", "error", *ports]
    async with process([str(program), *options], port, PROXY_CORE, folder / "chp.out") as pid:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{api}/api/routes") as client:
            for host, place in tables["places"].items():
                if isinstance(place, list):
                    route = json.dumps({"target": f"http://127.0.0.1:{place[1]}"})
                    (await client.post(f"/{host}", content=route)).raise_for_status()
        yield Candidate("configurable-http-proxy", port, pid)


def missing() -> list[str]:
    """The programs that have to be installed first."""
    return [each for each in ("nginx", "haproxy", "npm", "cc") if shutil.which(each) is None]

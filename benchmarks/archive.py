"""What a job takes longer than the plain tools: tar, zstd and an S3 client, on the same home and the same store.

    python -m benchmarks.archive --files 100000 --megabytes 1000 --rounds 3

The two in turn, on SeaweedFS on this machine. The home is made of copies of installed packages. It is cold once each of
its files was dropped from memory; its folders and inodes stay. Memory is that of all processes of the job together.
"""

import asyncio
import os
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from uuid import uuid4

from benchmarks.stage import Figure, arguments, progress, run
from tests.coordinators.own_service import OwnService
from tests.folders import remove_seaweedfs_sockets, short_folder

from codehub import clock
from codehub.archives.open import ensure_bucket
from codehub.archives.presign import Presigner
from codehub.archives.s3_requests import Bucket
from codehub.archives.sigv4 import Credentials
from codehub.job.order import Kind, Order, S3Place, encode_order
from codehub.job.programs import TAR
from codehub.stack import binaries
from codehub.stack.account import service_account
from codehub.stack.seaweedfs import SeaweedFS, remembered_ports

BUCKET = "benchmark"
SHARE = 0.9
MEMORY_MB = 200
SMALL_BYTES = 16 * 1024
ACTIONS = ("archive", "cold archive", "verify", "restore")

FLAGS = " ".join(f"'{flag}'" for flag in TAR)
PACK = f"tar -cf - --sparse {FLAGS} --format=posix --pax-option=delete=atime,delete=ctime . | zstd -q -1 -T0 --check"
PIPE = f"{sys.executable} -m benchmarks.s3_pipe"


@dataclass(frozen=True)
class Took:
    seconds: float
    processor_seconds: float
    megabytes: float


@dataclass(frozen=True)
class Ground:
    """A store, a home, and a folder for everything else."""

    bucket: Bucket
    folder: Path
    home: Path

    def plain(self, command: str, folder: Path) -> Took:
        environment = os.environ | {
            "PIPE_BUCKET": BUCKET,
            "PIPE_ENDPOINT": self.bucket.endpoint,
            "PIPE_ACCESS_KEY": self.bucket.credentials.access_key_id,
            "PIPE_SECRET_KEY": self.bucket.credentials.secret_access_key,
            "PYTHONPATH": str(Path(__file__).parents[1]),
        }
        return timed(["bash", "-o", "pipefail", "-ec", command], folder, environment)

    def job(self, kind: Kind, path: str, home: Path, place: S3Place) -> Took:
        order = self.folder / "order.json"
        order.write_bytes(encode_order(Order(kind, path, "benchmark", "0", home, place)))
        return timed([sys.executable, "-m", "codehub.job", kind, str(order)], self.folder, dict(os.environ))


def timed(argv: Sequence[str], folder: Path, environment: dict[str, str]) -> Took:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(argv, cwd=folder, env=environment, stdout=subprocess.DEVNULL) as process:
        most = [0.0]
        watcher = threading.Thread(target=watch, args=(process, most))
        watcher.start()
        process.wait()
        seconds = time.perf_counter() - began
        watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise RuntimeError(f"{argv} ended with {process.returncode}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(seconds, spent, most[0])


def watch(process: "subprocess.Popen[bytes]", most: list[float]) -> None:
    """The most that it and its children had in memory at once, looked at now and then."""
    while process.returncode is None:
        most[0] = max(most[0], resident(process.pid) / 1e6)
        time.sleep(0.1)


def resident(process_id: int) -> int:
    """What this process and its children have in memory; 0 for one that has ended."""
    folder = Path(f"/proc/{process_id}")
    try:
        own = int((folder / "statm").read_text().split()[1]) * resource.getpagesize()
        children = [int(child) for task in folder.glob("task/*/children") for child in task.read_text().split()]
    except OSError:
        return 0
    return own + sum(map(resident, children))


def make_home(home: Path, files: int, megabytes: int) -> None:
    """Small files of packages, over and over, until there are so many; then the large ones, until it is so large."""
    packages = Path(sysconfig.get_paths()["purelib"])
    found = [path for path in sorted(packages.rglob("*")) if path.is_file() and not path.is_symlink()]
    small = [path for path in found if path.stat().st_size <= SMALL_BYTES]
    large = [path for path in found if path.stat().st_size > SMALL_BYTES]
    size = 0
    for count, (turn, path) in enumerate(turns(small)):
        if count == files:
            break
        size += copy(path, home / f"node_modules-{turn}" / path.relative_to(packages))
    for turn, path in turns(large):
        if size >= megabytes * 1e6:
            break
        size += copy(path, home / f"venv-{turn}" / path.relative_to(packages))
    subprocess.run(["sync", "-f", home], check=True)


def turns(paths: Sequence[Path]) -> Iterator[tuple[int, Path]]:
    for number, path in enumerate(cycle(paths)):
        yield number // len(paths), path


def copy(source: Path, target: Path) -> int:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    return source.stat().st_size


def forget(home: Path) -> None:
    """Drop its files from memory, and nothing of anybody else's."""
    for path in home.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


@asynccontextmanager
async def ground(files: int, megabytes: int) -> AsyncIterator[Ground]:
    account = service_account()
    with short_folder() as folder, tempfile.TemporaryDirectory(prefix="codehub-benchmark-") as private:
        weed = SeaweedFS(
            folder=folder / "seaweedfs",
            sockets=folder / "sockets",
            programs=binaries.reachable(binaries.seaweedfs(), account, folder / "bin"),
            account=account,
            access_key=uuid4().hex,
            secret_key=uuid4().hex,
            ports=remembered_ports(folder / "ports.json"),
            log=folder / "seaweedfs.log",
        )
        store = OwnService(weed)
        home = Path(private) / "home"
        try:
            await store.start()
            await ensure_bucket(f"s3://{BUCKET}", **weed.access)
            progress(f"copying packages: {files} small files, {megabytes} MB")
            make_home(home, files, megabytes)
            credentials = Credentials(weed.access_key, weed.secret_key, region="us-east-1")
            yield Ground(Bucket(weed.endpoint, BUCKET, credentials), Path(private), home)
        finally:
            await store.stop()
            remove_seaweedfs_sockets(weed.ports.values())


async def archive_both(here: Ground, key: str, megabytes: int, *, is_cold: bool = False) -> tuple[Took, Took]:
    """By plain tools under one key, by the job under another."""
    if is_cold:
        forget(here.home)
    plain = here.plain(f"{PACK} | {PIPE} put {key}-plain", here.home)
    place = Presigner(here.bucket, at=clock.now()).for_archiving(key, await here.bucket.begin(key), megabytes * 2 << 20)
    if is_cold:
        forget(here.home)
    return plain, here.job(Kind.ARCHIVE, key, here.home, place)


def restore_both(here: Ground, key: str) -> tuple[Took, Took]:
    plain, job = here.folder / "plain", here.folder / "job"
    for folder in (plain, job):
        folder.mkdir()
    by_hand = here.plain(f"{PIPE} get {key}-plain | zstd -dq | tar -xf - {FLAGS} -p && sync -f .", plain)
    place = Presigner(here.bucket, at=clock.now()).for_reading(key)
    by_job = here.job(Kind.RESTORE, key, job, place)
    for folder in (plain, job):
        shutil.rmtree(folder)
    return by_hand, by_job


async def benchmark(files: int, megabytes: int, rounds: int) -> Sequence[Figure]:
    took: dict[str, list[tuple[Took, Took]]] = {action: [] for action in ACTIONS}
    async with ground(files, megabytes) as here:
        for number in range(rounds):
            key = f"{number}/warm/home.tar.zst"
            to_nothing = here.plain(f"{PACK} > /dev/null", here.home)
            took["archive"].append(await archive_both(here, key, megabytes))
            place = Presigner(here.bucket, at=clock.now()).for_reading(key)
            took["verify"].append((to_nothing, here.job(Kind.VERIFY, key, here.home, place)))
            took["restore"].append(await asyncio.to_thread(restore_both, here, key))
            took["cold archive"].append(
                await archive_both(here, f"{number}/cold/home.tar.zst", megabytes, is_cold=True)
            )
            for action, pairs in took.items():
                progress(
                    f"{number + 1} of {rounds}: {action} {pairs[-1][0].seconds:.1f} s, job {pairs[-1][1].seconds:.1f} s"
                )
    return figures(took)


def figures(took: dict[str, list[tuple[Took, Took]]]) -> Sequence[Figure]:
    def seconds(action: str, side: int) -> float:
        return statistics.median(pair[side].seconds for pair in took[action])

    def share(action: str) -> float:
        return seconds(action, 0) / seconds(action, 1)

    def processor(action: str, side: int) -> float:
        return statistics.median(pair[side].processor_seconds for pair in took[action])

    jobs = [pair[1].megabytes for pairs in took.values() for pair in pairs]
    return [
        Figure("archive: speed against tar | zstd | S3 client", share("archive"), "x", at_least=SHARE),
        Figure("archive: against tar | zstd to nothing", seconds("verify", 0) / seconds("archive", 1), "x"),
        Figure("archive: seconds", seconds("archive", 1), "s"),
        Figure("archive: processor time", processor("archive", 1), "s"),
        Figure("archive: processor time of the plain tools", processor("archive", 0), "s"),
        Figure("cold archive: speed against tar | zstd | S3 client", share("cold archive"), "x", at_least=1.0),
        Figure("verify: seconds", seconds("verify", 1), "s"),
        Figure("restore: speed against S3 client | zstd -d | tar -x, sync", share("restore"), "x", at_least=SHARE),
        Figure("restore: seconds", seconds("restore", 1), "s"),
        Figure("memory at once, the largest of all jobs", max(jobs), "MB", at_most=MEMORY_MB),
    ]


if __name__ == "__main__":
    sizes = arguments(__doc__, files=100_000, megabytes=1000, rounds=3)
    run(benchmark(sizes.files, sizes.megabytes, sizes.rounds))

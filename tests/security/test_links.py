"""codehub looks at homes from outside, as root (control C25): a link that is put into one, also while it looks, leads
it nowhere."""

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from codehub.runtimes import trees
from codehub.runtimes.errors import RuntimeFault

ROUNDS = 12
PRECIOUS = 40
MIB = 1024**2


@contextmanager
def swapping(place: Path, target: Path) -> Iterator[None]:
    """A folder of the home is now a folder and now a link that leads out, as often as a thread can make it so."""
    over = threading.Event()

    def swap() -> None:
        folder, link = place.with_name("folder"), place.with_name("link")
        while not over.is_set():
            with suppress(OSError):
                folder.mkdir(exist_ok=True)
                (folder / "file").touch()
                link.symlink_to(target)
            for source in (link, folder):
                with suppress(OSError):
                    place.rename(place.with_name("last"))
                with suppress(OSError):
                    source.rename(place)
                with suppress(OSError):
                    os.unlink(place.with_name("last"))  # noqa: PTH108

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


async def test_a_link_that_is_put_there_meanwhile_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for number in range(PRECIOUS):
        (outside / str(number)).write_bytes(os.urandom(MIB // 4))
    for round_number in range(ROUNDS):
        home = tmp_path / f"home-{round_number}"
        (home / "deep").mkdir(parents=True)
        with swapping(home / "deep" / "place", outside):
            assert await trees.size(home) < MIB
            await asyncio.gather(*(trees.size(home) for _ in range(2)))
            with suppress(RuntimeFault):  # a folder that is filled while it is emptied
                await trees.remove([home])
        await trees.remove([home])
        assert not home.exists()
    assert len(list(outside.iterdir())) == PRECIOUS

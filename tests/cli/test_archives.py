"""`codehub ws archive` and what follows it: files that go, come back, are copied and are taken home."""

import asyncio
import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from codehub.errors import ExitCode
from tests.cli.command import Outcome
from tests.cli.gate import Gate
from tests.cli.serving import Person, Served, person

pytestmark = pytest.mark.timeout(1200)

PATIENCE_SECONDS = 300.0
"""Homes are moved at the lowest priority: beside other tests that takes its time."""


@pytest.fixture
async def ada(server: Served, tmp_path: Path) -> Person:
    """Somebody who can wait."""
    somebody = await person(server, tmp_path)
    return replace(somebody, codehub=replace(somebody.codehub, patience_seconds=PATIENCE_SECONDS))


async def archived(ada: Person, name: str = "garden") -> None:
    """A workspace that has run, and lies in the archive."""
    assert (await ada.codehub("ws", "create", name, "--wait")).code == 0
    put_away = await ada.codehub("ws", "archive", name, "--wait")
    assert (put_away.code, put_away.stdout) == (0, f"{name} is ARCHIVED.\n"), put_away.stderr


async def archives(ada: Person, name: str = "garden") -> list[dict[str, object]]:
    found: list[dict[str, object]] = (await ada.codehub("ws", "archives", name, "--json")).json()["items"]
    return found


async def names_in(file: Path) -> list[str]:
    """What plain tools find in a download."""
    command = f"zstd -dc {file} | tar -tf -"
    listing = await asyncio.create_subprocess_shell(command, stdout=asyncio.subprocess.PIPE)
    output, _ = await listing.communicate()
    assert listing.returncode == 0
    return output.decode().split()


async def test_files_go_come_back_are_copied_and_are_taken_home(ada: Person) -> None:
    none = await ada.codehub("ws", "create", "garden", "--wait")
    assert none.code == 0
    assert (await ada.codehub("ws", "archives", "garden")).stdout == "There is no archive of garden yet.\n"
    missing = await ada.codehub("ws", "download", "garden")
    assert (missing.code, missing.stderr) == (
        ExitCode.NOT_FOUND,
        "codehub: There is no archive of garden yet. Make one with: codehub ws archive garden\n",
    )

    put_away = await ada.codehub("ws", "archive", "garden", "--wait")
    assert (put_away.code, put_away.stdout) == (0, "garden is ARCHIVED.\n"), put_away.stderr
    assert "Its files are being moved to the archive" in put_away.stderr
    [first] = await archives(ada)
    assert (first["number"], first["current"], first["kept"]) == (1, True, False)
    told = (await ada.codehub("ws", "archives", "garden")).stdout
    assert "it is the current archive" in told.splitlines()[1]
    assert "it opens in a few seconds" in (await ada.codehub("ws", "show", "garden")).stdout

    fetched = await ada.codehub("ws", "download", "garden", "--json")
    assert (fetched.json()["file"], fetched.json()["verified"]) == ("garden-1.tar.zst", True)
    file = ada.codehub.folder / "garden-1.tar.zst"
    content = await asyncio.to_thread(file.read_bytes)
    assert hashlib.sha256(content).hexdigest() == first["sha256"]
    assert "./" in await names_in(file)

    copied = await ada.codehub("ws", "fork", "garden", "copy", "--no-start", "--wait")
    assert (copied.code, copied.stdout) == (0, "copy is STANDBY.\n"), copied.stderr
    started = await ada.codehub("ws", "start", "garden", "--wait")
    assert (started.code, started.stdout) == (0, "garden is RUNNING.\n"), started.stderr
    assert "brought back from the archive" in started.stderr

    back = await ada.codehub("ws", "restore", "garden", "1", "--wait")
    assert (back.code, back.stdout) == (0, "garden is RUNNING.\n"), back.stderr
    assert "Then its older files are brought back" in back.stderr or "Bringing back older files" in back.stderr
    assert [each["number"] for each in await archives(ada)] == [2, 1]
    assert [each["current"] for each in await archives(ada)] == [False, True]


async def test_an_archive_is_kept_and_let_go(ada: Person) -> None:
    await archived(ada)
    kept = await ada.codehub("ws", "keep", "garden", "1")
    assert (kept.code, kept.stdout) == (0, "Archive 1 of garden stays: it is the current archive.\n")
    [archive] = await archives(ada)
    assert archive["kept"] is True
    assert (await ada.codehub("ws", "unkeep", "garden", str(archive["id"])[:6], "--json")).json()["kept"] is False
    nothing = await ada.codehub("ws", "keep", "garden", "9")
    assert (nothing.code, nothing.stderr) == (
        ExitCode.NOT_FOUND,
        "codehub: There is no archive '9' of garden. There is: 1.\n",
    )


async def test_what_was_deleted_comes_back(ada: Person) -> None:
    await archived(ada)
    asked = await ada.codehub("ws", "delete", "garden", given="n\n")
    assert "It can be brought back for 7 days, as it was at " in asked.stderr
    deleted = await ada.codehub("ws", "delete", "garden", "--yes", "--wait")
    assert "garden is deleted. It can be brought back until " in deleted.stdout
    assert deleted.stdout.endswith("codehub ws undelete garden\n")
    assert (await ada.codehub("ws", "list", "--json")).json()["items"] == []
    assert "undelete" in (await ada.codehub("ws", "list", "--deleted")).stdout
    nobody = await ada.codehub("ws", "undelete", "orchard")
    assert (nobody.code, "See: codehub ws list --deleted" in nobody.stderr) == (ExitCode.NOT_FOUND, True)
    back = await ada.codehub("ws", "undelete", "garden", "--start", "--wait")
    assert (back.code, back.stdout) == (0, "garden is RUNNING.\n"), back.stderr


async def test_an_empty_home_is_asked_for_by_the_owners_word_and_only_for_lost_files(ada: Person) -> None:
    await ada.codehub("ws", "create", "garden", "--no-start", "--wait")
    asked = await ada.codehub("ws", "start-empty", "garden", given="n\n")
    assert asked.code == ExitCode.FAILED
    assert "Give up the lost files of garden?" in asked.stderr
    refused = await ada.codehub("ws", "start-empty", "garden", "--yes", "--json")
    assert (refused.code, refused.error()["problem"]["code"]) == (ExitCode.REFUSED, "not_in_error")


class TestDownload:
    """Of an archive that is larger than what is under way at once; nothing but the rows and the bytes of it is real."""

    content = os.urandom(24 * 1024 * 1024)

    @pytest.fixture
    async def large(self, ada: Person) -> str:
        """The id of an archive of a workspace that never ran."""
        made = (await ada.codehub("ws", "create", "garden", "--no-start", "--json")).json()
        key = f"{made['id']}/{made['id']}/home.tar.zst"
        file = ada.server.data / "archives" / key
        await asyncio.to_thread(file.parent.mkdir, parents=True)
        await asyncio.to_thread(file.write_bytes, self.content)
        await ada.execute(
            """INSERT INTO archives (id, workspace_id, generation, key, size, checksum, entries, op_id)
               VALUES ($1, $1, 7, $2, $3, $4, 1, $1)""",
            *(made["id"], key, len(self.content), hashlib.sha256(self.content).hexdigest()),
        )
        return str(made["id"])

    async def download(self, ada: Person, *options: str, **variables: str) -> Outcome:
        return await ada.codehub("ws", "download", "garden", "7", *options, **variables)

    async def files(self, ada: Person) -> list[str]:
        return sorted(await asyncio.to_thread(os.listdir, ada.codehub.folder))

    @pytest.mark.usefixtures("large")
    async def test_a_file_bears_its_name_only_when_it_is_whole(self, ada: Person) -> None:
        outcome = await self.download(ada)
        digest = hashlib.sha256(self.content).hexdigest()
        assert (outcome.code, outcome.stdout.endswith(f"Its SHA-256 is right: {digest}\n")) == (0, True), outcome.stderr
        assert await self.files(ada) == ["garden-7.tar.zst"]
        again = await self.download(ada)
        assert (again.code, "garden-7.tar.zst is there already." in again.stderr) == (ExitCode.REFUSED, True)
        assert (await self.download(ada, "--force")).code == 0
        assert (await self.download(ada, "-o", "other")).code == 0
        assert await self.files(ada) == ["garden-7.tar.zst", "other"]

    async def test_what_has_arrived_before_is_not_fetched_again(self, ada: Person, large: str) -> None:
        part = ada.codehub.folder / f".garden-7.tar.zst.{large[:8]}.part"
        await asyncio.to_thread(part.write_bytes, self.content[:1_000_000])
        assert (await self.download(ada)).code == 0
        assert await asyncio.to_thread((ada.codehub.folder / "garden-7.tar.zst").read_bytes) == self.content

    async def test_other_bytes_are_never_taken_for_the_archive(self, ada: Person, large: str) -> None:
        part = ada.codehub.folder / f".garden-7.tar.zst.{large[:8]}.part"
        for wrong in (b"x" * 1_000_000, self.content + b"x"):
            await asyncio.to_thread(part.write_bytes, wrong)
            outcome = await self.download(ada)
            assert (outcome.code, "What arrived is not the archive" in outcome.stderr) == (ExitCode.FAILED, True)
            assert await self.files(ada) == []

    @pytest.mark.usefixtures("large")
    async def test_a_program_reads_it_from_stdout(self, ada: Person) -> None:
        async with ada.codehub.running("ws", "download", "garden", "7", "-o", "-", variables={}) as process:
            output, said = await process.communicate()
        assert (process.returncode, output == self.content, b"Its SHA-256 is right" in said) == (0, True, True)
        assert (await self.download(ada, "-o", "-", "--json")).code == ExitCode.USAGE

    @pytest.mark.usefixtures("large")
    async def test_a_connection_that_breaks_is_followed_by_another(self, ada: Person) -> None:
        async with Gate(ada.server.url) as gate:
            arguments = ("ws", "download", "garden", "7", "-o", "-")
            async with ada.codehub.running(*arguments, variables={"CODEHUB_SERVER": gate.url}) as process:
                assert process.stdout is not None
                first = await process.stdout.readexactly(1024 * 1024)
                await gate.close()
                await gate.open()
                rest, said = await process.communicate()
        assert (process.returncode, first + rest == self.content) == (0, True), said

    async def test_a_damaged_one_is_told(self, ada: Person, large: str) -> None:
        file = ada.server.data / "archives" / f"{large}/{large}/home.tar.zst"
        await asyncio.to_thread(file.write_bytes, self.content[:-1] + b"\0")
        outcome = await self.download(ada)
        assert (outcome.code, "What arrived is not the archive" in outcome.stderr) == (ExitCode.FAILED, True)
        await asyncio.to_thread(file.unlink)
        gone = await self.download(ada, "--json")
        assert gone.code == ExitCode.REFUSED
        assert json.loads(gone.stderr)["problem"]["code"] == "archive_damaged"
        assert not [each for each in await self.files(ada) if not each.startswith(".")]

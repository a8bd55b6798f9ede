"""A home as people have them: a virtual environment, a repository, a database, a tree of small packages."""

import os
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import venv
from contextlib import closing
from pathlib import Path

import pytest

from codehub.job.order import Kind, Proof
from tests.job.orders import desk_in, fresh
from tests.job.sights import sight

GIT = ("git", "-c", "user.name=somebody", "-c", "user.email=somebody@example.org")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = fresh(tmp_path, "home")
    venv.create(home / "project/.venv", with_pip=False, symlinks=True)
    packages = Path(sysconfig.get_paths()["purelib"])
    for name in ("hypothesis", "mypy", "httpx"):
        shutil.copytree(packages / name, home / "project/.venv/lib/packages" / name, symlinks=True)
    make_modules(home / "project/node_modules")
    make_repository(home / "project")
    with closing(sqlite3.connect(home / "notes.sqlite")) as database:
        database.execute("CREATE TABLE notes (text)")
        database.executemany("INSERT INTO notes VALUES (?)", [(f"note {number}",) for number in range(5000)])
        database.commit()
    (home / ".bash_history").write_text("ls\n" * 1000)
    os.chmod(home / ".bash_history", 0o600)
    return home


def make_modules(folder: Path) -> None:
    """As npm lays them out: many small folders, one old time on everything, commands as links."""
    (folder / ".bin").mkdir(parents=True)
    for number in range(300):
        package = folder / f"package-{number}"
        (package / "lib").mkdir(parents=True)
        (package / "package.json").write_text(f'{{"name": "package-{number}"}}')
        (package / "lib/index.js").write_text("module.exports = 1;\n" * number)
        (folder / ".bin" / f"package-{number}").symlink_to(f"../package-{number}/lib/index.js")
        for path in package.rglob("*"):
            os.utime(path, (499162500, 499162500))


def make_repository(folder: Path) -> None:
    (folder / "main.py").write_text("print('hello')\n")
    for command in (("init", "-q"), ("add", "main.py"), ("commit", "-q", "-m", "first"), ("gc", "-q")):
        subprocess.run([*GIT, *command], cwd=folder, check=True)


def test_it_comes_back_and_works(home: Path, tmp_path: Path) -> None:
    before = sight(home)
    desk = desk_in(tmp_path)
    totals = desk.run(Kind.ARCHIVE, home).totals
    assert totals.entries == len(before)
    desk.run(Kind.VERIFY, home, expected=totals, proof=Proof.EXTRACT)
    restored = fresh(tmp_path)
    assert desk.run(Kind.RESTORE, restored, expected=totals).totals == totals
    assert sight(restored) == before
    project = restored / "project"
    clean = subprocess.run([*GIT, "status", "--short", "main.py"], cwd=project, capture_output=True, check=True)
    assert clean.stdout == b""
    subprocess.run([*GIT, "fsck", "--strict"], cwd=project, check=True, capture_output=True)
    with closing(sqlite3.connect(restored / "notes.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT count(*) FROM notes").fetchone() == (5000,)
    python = subprocess.run(
        [project / ".venv/bin/python", "-c", "import sys; print(sys.version)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert python.stdout.strip() == sys.version


def test_progress_is_told_line_by_line(home: Path, tmp_path: Path) -> None:
    outcome = desk_in(tmp_path).run(Kind.ARCHIVE, home)
    stages = [line["stage"] for line in outcome.lines[:-1]]
    assert list(dict.fromkeys(stages)) == ["survey", "archive", "commit"]
    for line in outcome.lines[:-1]:
        assert set(line) == {"stage", "bytes", "total", "entries", "rate", "eta"}
        assert line["bytes"] <= line["total"] or line["stage"] != "archive"
    assert outcome.totals.size > 0

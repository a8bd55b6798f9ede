"""`codehub image build`: the images that workspaces and jobs run."""

import asyncio
import dataclasses
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from codehub.errors import ConfigurationError

if TYPE_CHECKING:
    from codehub.images.dockerfile import Recipe
    from codehub.images.host_access import HostAccess
    from codehub.images.image import Built
    from codehub.images.job_image import JobRecipe
    from codehub.images.progress import Progress, Report

images = typer.Typer(name="image", help="Make the images that workspaces and jobs run.", no_args_is_help=True)


class Name(StrEnum):
    CODE_SERVER = "code-server"
    JUPYTERLAB = "jupyterlab"
    JOB = "job"


def register(app: typer.Typer) -> None:
    app.add_typer(images)


@images.command("build")
def build(
    name: Annotated[Name, typer.Argument(help="Which IDE; or job, which archives homes.")] = Name.CODE_SERVER,
    base: Annotated[str, typer.Option(help="A Debian 12 image to start from, instead of debian:bookworm-slim.")] = "",
    no_registry: Annotated[
        bool, typer.Option("--no-registry", help="Pull nothing; make the base with debootstrap.")
    ] = False,
    trust_host_ca: Annotated[
        bool, typer.Option("--trust-host-ca", help="Let what runs in it trust this machine's certificates.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Build anew, with today's Debian packages.")] = False,
    engine: Annotated[str, typer.Option(help="The engine's URL (default: the one that docker uses).")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object, for programs.")] = False,
) -> None:
    """Build an image on the Docker engine. One that is there is left as it is (docs/images.md).

    Example: codehub image build jupyterlab --no-registry
    """
    from codehub.images.dockerfile import DEBIAN, Recipe
    from codehub.images.host_access import find_host_access
    from codehub.images.job_image import JobRecipe
    from codehub.images.tools import TOOLS

    access = find_host_access()
    if trust_host_ca and access.ca is None:
        raise ConfigurationError("This machine has no bundle of certificates.", "Name one with SSL_CERT_FILE.")
    trusted = access.ca if trust_host_ca else None
    based = base or DEBIAN
    recipe = JobRecipe(based, trusted) if name is Name.JOB else Recipe(TOOLS[name], based, trusted)
    built = asyncio.run(_build(recipe, access, engine or None, registry=not no_registry, fresh=fresh))
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(built)))
    elif built.was_there:
        typer.echo(f"{built.tag} is there already, {built.size_bytes / 1e6:.0f} MB")
    else:
        typer.echo(f"{built.tag} built in {built.seconds:.0f} s, {built.size_bytes / 1e6:.0f} MB")


async def _build(
    recipe: "Recipe | JobRecipe", access: "HostAccess", engine: str | None, *, registry: bool, fresh: bool
) -> "Built":
    from codehub.images.engine import open_engine
    from codehub.images.image import ensure_image

    with _shown() as show:
        async with open_engine(engine) as docker:
            return await ensure_image(docker, recipe, access, show, registry=registry, fresh=fresh)


@contextmanager
def _shown() -> Iterator["Report"]:
    """Shows on stderr how far a build is: one line that changes on a terminal, one line per step elsewhere."""
    if not sys.stderr.isatty():
        yield _Lines().show
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as display:
        task = display.add_task("")
        yield lambda progress: display.update(task, description=f"{_head(progress)}  {progress.line[:60]}")


class _Lines:
    def __init__(self) -> None:
        self._began = time.monotonic()
        self._last = ""

    def show(self, progress: "Progress") -> None:
        head = _head(progress)
        if head != self._last:
            typer.echo(f"{time.monotonic() - self._began:5.0f} s  {head}", err=True)
        self._last = head


def _head(progress: "Progress") -> str:
    count = f"step {progress.step} of {progress.steps}" if progress.steps else ""
    return "  ".join(part for part in (f"{progress.stage:<8}", count, progress.doing[:80]) if part)

"""An IDE's image as text and bytes: its Dockerfile, its build context and its tag. No I/O but the packaged files.

Three stages. `system` is Debian with the tools of a workspace; `build` adds compilers and makes the IDE; the last one
starts from nothing and takes the results. Only so can the first two use the host's mirrors and certificates (`host/`)
without a layer of the image remembering them. The plain builder that every engine has can do all of it.
"""

import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from codehub.images.tools import FILES, HOME, TRUST, Tool, contents, fingerprint

DEBIAN = "debian:bookworm-slim"
"""The base by default. One made by debootstrap counts as the same: it holds the same packages."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides what an image holds. How the host reaches packages is not part of it."""

    tool: Tool
    base: str = DEBIAN
    trusted_ca: bytes | None = None
    """Certificates that the image should trust instead of Debian's; for workspaces behind an intercepting proxy."""

    needed_bytes = 5 * 10**9
    """Compilers, what they make, and the image itself, on the engine at the same time."""

    @property
    def repository(self) -> str:
        return f"codehub/{self.tool.name}"

    @property
    def tag(self) -> str:
        """Names the image by what goes into it: what is there need not be built, and a change is never missed."""
        parts = {"Dockerfile": render(self.tool).encode(), "base": self.base.encode(), **self.build_files}
        if self.trusted_ca is not None:
            parts["ca"] = self.trusted_ca
        return f"{self.repository}:{self.tool.version}-{fingerprint(parts)}"

    @property
    def build_files(self) -> dict[str, bytes]:
        return {
            f"build/{folder}/{name}": content
            for folder, source in (("system", FILES / "system"), (self.tool.name, self.tool.source))
            for name, content in contents(source).items()
        } | {f"build/{name}": content for name, content in self.tool.added_files.items()}

    def context(self, host_files: Mapping[str, bytes]) -> bytes:
        """What is sent to the engine. The same input gives the same bytes, so that the engine's cache holds."""
        host = {f"host/{name}": content for name, content in host_files.items()}
        return pack({"Dockerfile": render(self.tool).encode(), **self.build_files, **host})


def folder_in_image(tool: Tool) -> PurePosixPath:
    return PurePosixPath("/opt") / tool.name


def render(tool: Tool) -> str:
    folder = folder_in_image(tool)
    steps = "\n".join(f"RUN . /host/environment && /build/install {step.name} {folder}" for step in tool.steps)
    added = "".join(f"\nCOPY build/{source.name} {folder}/{place}" for place, source in tool.added.items())
    variables = tool.environment(folder) | TRUST
    environment = " ".join(f"{name}={json.dumps(value)}" for name, value in variables.items())
    return f"""\
ARG BASE
FROM $BASE AS system
COPY host /host
COPY build/system /build
RUN /build/install

FROM system AS build
COPY host /host
RUN . /host/environment && apt-get update && apt-get install -y --no-install-recommends {" ".join(tool.build_packages)}
COPY build/{tool.name} /build
{steps}

FROM scratch
COPY --from=system / /
COPY --from=build {folder} {folder}{added}
ENV {environment}
WORKDIR {HOME}
USER 1000:1000
EXPOSE {tool.port}
ENTRYPOINT {json.dumps(tool.command(folder, *tool.on_port))}
"""


def pack(files: Mapping[str, bytes]) -> bytes:
    """A tar without times or owners of this machine."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mode = 0o755 if name.endswith("/install") else 0o644
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()

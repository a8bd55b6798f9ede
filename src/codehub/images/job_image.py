"""The image that jobs run in: the job program, Python, GNU tar and zstd, and nothing that they do not need."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from codehub.images.dockerfile import DEBIAN, pack
from codehub.images.tools import FILES, TRUSTED, contents, fingerprint
from codehub.job.marker import FORMAT

NAME = "job"
REPOSITORY = f"codehub/{NAME}"
PROGRAM = Path(str(files("codehub.job")))
COMMAND = ("ionice", "-c", "3", "python3", "-I", "-m", "codehub.job")
DOCKERFILE = f"""\
ARG BASE
FROM $BASE AS build
COPY host /host
COPY build/{NAME} /build
COPY codehub /codehub
RUN /build/install /image

FROM scratch
COPY --from=build /image /
ENV PATH=/usr/bin:/bin LC_ALL=C.UTF-8 SSL_CERT_FILE={TRUSTED}
ENTRYPOINT {json.dumps(COMMAND)}
"""


@dataclass(frozen=True, slots=True)
class JobRecipe:
    """All that decides what the image holds (see `dockerfile.Recipe`)."""

    base: str = DEBIAN
    trusted_ca: bytes | None = None
    """Certificates to trust instead of Debian's; for a store behind an authority of one's own."""

    needed_bytes = 10**9

    @property
    def tag(self) -> str:
        """Names the archives that it makes, and all that goes into it."""
        parts = {"base": self.base.encode(), **self._files}
        if self.trusted_ca is not None:
            parts["ca"] = self.trusted_ca
        return f"{REPOSITORY}:{FORMAT}-{fingerprint(parts)}"

    @property
    def _files(self) -> dict[str, bytes]:
        build = {f"build/{NAME}/{name}": content for name, content in contents(FILES / NAME).items()}
        program = {f"codehub/job/{name}": content for name, content in contents(PROGRAM).items()}
        return {"Dockerfile": DOCKERFILE.encode(), "codehub/__init__.py": b"", **build, **program}

    def context(self, host_files: Mapping[str, bytes]) -> bytes:
        """What is sent to the engine. The same input gives the same bytes, so that the engine's cache holds."""
        return pack(self._files | {f"host/{name}": content for name, content in host_files.items()})

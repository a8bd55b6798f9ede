"""The IDEs that codehub brings: what each is made of, how it is started, and where it answers.

One description serves both the image (`dockerfile.py`) and the installation without an engine (`local_ide.py`), and one
script per IDE does the work in both, so that a workspace is the same in either.

Versions stand once, beside the scripts, in files that pip and sha512sum themselves check: `code-server/node.txt`,
`code-server/code-server.sha512` and `jupyterlab/jupyterlab.txt` in `files/`. All of `files/` lies inside the package
because `codehub image build` must work from an installed wheel, which has no `deploy/` beside it.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePath

FILES = Path(str(files("codehub.images"))) / "files"
HOME = "/home/coder"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TRUSTED = "/etc/ssl/certs/ca-certificates.crt"
TRUST = dict.fromkeys(("NODE_EXTRA_CA_CERTS", "PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"), TRUSTED)
"""Lets all in a workspace trust what its system trusts; Node.js and Python's packages bring bundles of their own."""
RECONNECTION_SECONDS = 600
"""How long code-server keeps a visitor's editor and terminals after the browser left: as long as a workspace stays
awake by default. Its own default of three hours holds 400 MB for each of them."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of the IDE's `install` script."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    source: Path
    """The folder of its `install` script and of what that reads."""
    pin: tuple[str, str]
    """A file in it, and the pattern that finds the version there."""
    build_packages: tuple[str, ...]
    """Debian packages that only the steps need."""
    steps: tuple[Step, ...]
    program: tuple[str, ...]
    """What to run from the folder that it is installed in."""
    options: tuple[str, ...]
    on_port: tuple[str, ...]
    on_socket: tuple[str, ...]
    arguments: tuple[str, ...]
    port: int
    health_path: str
    strip_prefix: bool
    """Whether the front door takes the workspace's prefix off the path. Where it does not, the IDE is told the prefix
    as CODEHUB_BASE_PATH, and its health path lies below it."""
    own_environment: Mapping[str, str]
    added: Mapping[str, Path] = field(default_factory=dict)
    """Folders of ours that become part of it when it is done, by their place in its own. Last, so that a change of one
    does not make an image be compiled anew."""

    @property
    def version(self) -> str:
        file, pattern = self.pin
        found = re.search(pattern, self.files[file].decode(), re.MULTILINE)
        if found is None:
            raise ValueError(f"{file} names no version of {self.name}")
        return found[1]

    @property
    def files(self) -> dict[str, bytes]:
        """The script and what it reads, by name."""
        return dict(contents(self.source))

    @property
    def added_files(self) -> dict[str, bytes]:
        """All that is added, by the folder's name and its own."""
        return {
            f"{source.name}/{name}": content
            for source in self.added.values()
            for name, content in contents(source).items()
        }

    @property
    def release(self) -> str:
        """Names this installation exactly: the version, and a hash of all that goes into it. Another hash is another
        folder, so that an upgrade of codehub never finds an older installation and takes it for its own."""
        return f"{self.version}-{fingerprint(self.files | self.added_files)}"

    def command(self, folder: PurePath, *listen: str) -> tuple[str, ...]:
        """How to start it from the folder that it is installed in."""
        program = (part.replace("{folder}", str(folder)) for part in self.program)
        return (*program, *self.options, *listen, *self.arguments)

    def environment(self, folder: PurePath) -> dict[str, str]:
        """All that it and the terminals in it need to know."""
        return {
            "HOME": HOME,
            "USER": "coder",
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            "PATH": f"{HOME}/.local/bin:{folder}/bin:{SYSTEM_PATH}",
            **self.own_environment,
        }


CODE_SERVER = Tool(
    name="code-server",
    description="VS Code in the browser",
    source=FILES / "code-server",
    pin=("code-server.sha512", r"code-server-(.+)\.tgz$"),
    build_packages=("build-essential", "pkg-config", "libkrb5-dev", "libsecret-1-dev", "python3", "python3-venv"),
    steps=(
        Step("node", "Node.js from its wheel"),
        Step("download", "code-server from npm, its hash checked"),
        Step("compile", "its dependencies, four of them compiled"),
        Step("slim", "remove what is never used"),
    ),
    program=("{folder}/bin/node", "{folder}/lib/node_modules/code-server/out/node/entry.js"),
    options=(
        "--auth=none",  # the front door has let the visitor in
        "--disable-telemetry",
        "--disable-update-check",
        "--disable-workspace-trust",
        "--disable-getting-started-override",
        f"--reconnection-grace-time={RECONNECTION_SECONDS}",
    ),
    on_port=("--bind-addr=0.0.0.0:8080",),
    on_socket=("--socket={socket}", "--socket-mode=0666"),
    arguments=(HOME,),
    port=8080,
    health_path="/healthz",
    strip_prefix=True,
    own_environment={
        "CODE_SERVER_CONFIG": "/dev/null",  # else it leaves a file with an unused password in the home
        "NPM_CONFIG_PREFIX": f"{HOME}/.local",  # npm install --global goes where it may write, and survives
    },
    added={"lib/node_modules/code-server/lib/vscode/extensions/codehub": FILES / "extension"},
)

JUPYTERLAB = Tool(
    name="jupyterlab",
    description="JupyterLab: notebooks, terminals and an editor",
    source=FILES / "jupyterlab",
    pin=("jupyterlab.txt", r"^jupyterlab==(\S+)"),
    build_packages=("python3", "python3-venv"),
    steps=(
        Step("wheels", "JupyterLab from wheels, their hashes checked"),
        Step("finish", "its configuration"),
    ),
    program=("{folder}/bin/python", "-m", "jupyterlab"),
    options=("--no-browser",),
    on_port=("--ServerApp.port=8888",),
    on_socket=("--ServerApp.sock={socket}", "--ServerApp.sock_mode=0666"),
    arguments=(),
    port=8888,
    health_path="/api/status",
    strip_prefix=False,
    own_environment={
        "JUPYTER_RUNTIME_DIR": "/tmp/jupyter",  # noqa: S108 - the workspace's own; what dies with it is not kept
    },
)

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (CODE_SERVER, JUPYTERLAB)}


@cache
def contents(folder: Path) -> Mapping[str, bytes]:
    """The files of a folder of the package, by name."""
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}


def fingerprint(parts: Mapping[str, bytes]) -> str:
    """Short, the same on every machine, and another one for any change of a name or a byte."""
    whole = hashlib.sha256()
    for name, content in sorted(parts.items()):
        whole.update(f"{name}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()[:12]

"""A running job as the kernel shows it to the host."""

import re
from pathlib import Path

PROC = Path("/proc")
OF_THE_KERNEL = ("/proc", "/sys", "/dev", "/tmp", "/run")


def told(pid: int, field: str) -> str:
    """A field of the process's status."""
    found = re.search(rf"^{field}:\s*(.*)$", (PROC / str(pid) / "status").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def mounts(pid: int) -> dict[str, bool]:
    """What of the host it sees, by the place where it sees it, and whether it may write there."""
    found = {}
    for line in (PROC / str(pid) / "mountinfo").read_text().splitlines():
        place, options = line.split()[4:6]
        if not place.startswith(OF_THE_KERNEL):
            found[place] = "rw" in options.split(",")
    return found


def interfaces(pid: int) -> dict[str, str]:
    """The network's interfaces that it sees, and how many bytes and packets each has carried."""
    lines = (PROC / str(pid) / "net/dev").read_text().splitlines()[2:]
    return {name.strip(): counted.split()[0] for name, _, counted in (line.partition(":") for line in lines)}


def shown_anywhere(secret: str) -> list[Path]:
    """Where any process's command line or environment tells it."""
    found = []
    for folder in PROC.glob("[0-9]*"):
        for file in (folder / "cmdline", folder / "environ"):
            try:
                if secret.encode() in file.read_bytes():
                    found.append(file)
            except OSError:  # it has ended, or is not ours to look into
                continue
    return found


def written_below(folder: Path, secret: str) -> list[Path]:
    """The files that hold it."""
    return [path for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]

"""What every workspace is shown of codehub: the folder of the socket that it may ask on, and the programs that ask."""

import os
from pathlib import Path

from codehub.images.tools import FILES, contents
from codehub.model import inside

SOURCE = FILES / "inside"


def lay_out(folder: Path) -> bool:
    """Have it there, open to read for whoever is shown it; not where there is no data folder to have it in, which is
    never made here. Workspaces that run see an old program or the new one, never half of it."""
    if not folder.parent.is_dir():
        return False
    programs = folder / Path(inside.PROGRAMS).relative_to(inside.FOLDER)
    for each in (folder, programs):
        each.mkdir(exist_ok=True)
        each.chmod(0o755)
    for name, content in contents(SOURCE).items():
        draft = programs / f".{name}.{os.getpid()}"
        draft.write_bytes(content)
        draft.chmod(0o755)
        draft.rename(programs / name)
    return True

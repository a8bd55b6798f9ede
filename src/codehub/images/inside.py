"""What every workspace is shown of codehub: the folder of the socket that it may ask on, and the program that asks."""

import os
from pathlib import Path

from codehub.images.tools import FILES
from codehub.model import inside

SOURCE = FILES / "inside" / Path(inside.PROGRAM).name


def lay_out(folder: Path) -> bool:
    """Have it there, open to read for whoever is shown it; not where there is no data folder to have it in, which is
    never made here. Workspaces that run see the old program or the new one, never half of it."""
    if not folder.parent.is_dir():
        return False
    program = folder / Path(inside.PROGRAM).relative_to(inside.FOLDER)
    for each in (folder, program.parent):
        each.mkdir(exist_ok=True)
        each.chmod(0o755)
    draft = program.with_name(f".{program.name}.{os.getpid()}")
    draft.write_bytes(SOURCE.read_bytes())
    draft.chmod(0o755)
    draft.rename(program)
    return True

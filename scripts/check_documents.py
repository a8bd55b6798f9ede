"""Fails when a document links to a file or heading that is not there. Run by scripts/check."""

import os
import re
import sys
from pathlib import Path

MADE_HERE = {"mutants", "dist"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def documents() -> list[Path]:
    """Without git, which a machine that only runs the tests need not have."""
    found = []
    for folder, folders, files in os.walk("."):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in MADE_HERE]
        found += [Path(folder, name) for name in files if name.endswith(".md")]
    return found


def anchors(document: Path) -> set[str]:
    """The names that a heading can be linked by, as the usual renderers make them."""
    headings = HEADING.findall(document.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(document: Path) -> list[str]:
    dead = []
    for target in LINK.findall(CODE.sub("", document.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        linked = document.parent / name if name else document
        if not linked.exists():
            dead.append(f"{document}: {target} is not there")
        elif anchor and linked.suffix == ".md" and anchor not in anchors(linked):
            dead.append(f"{document}: {target} names a heading that is not there")
    return dead


def main() -> None:
    found = documents()
    dead = [each for document in found for each in dead_links(document)]
    if dead:
        sys.exit("\n".join(dead))
    print(f"links of {len(found)} documents: all there")


if __name__ == "__main__":
    main()

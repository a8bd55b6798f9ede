"""Migrations are written as plain SQL scripts; this runs one."""

from collections.abc import Iterator

from alembic import op


def run(script: str) -> None:
    """Execute every statement of the script, in the migration's transaction."""
    for statement in _statements(script):
        op.execute(statement)


def _statements(script: str) -> Iterator[str]:
    """Split at semicolons that end a line outside a $$-quoted body: the driver takes one statement at a time."""
    lines: list[str] = []
    for line in script.splitlines():
        lines.append(line)
        statement = "\n".join(lines)
        if line.rstrip().endswith(";") and statement.count("$$") % 2 == 0:
            yield statement
            lines.clear()
    if "".join(lines).strip():
        raise ValueError(f"the script's last statement does not end: {' '.join(lines)[:80]}")

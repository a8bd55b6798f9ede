"""The `codehub` command."""


def main() -> None:
    raise SystemExit("not yet")

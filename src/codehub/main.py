"""The `codehub` command."""

from codehub.cli.app import run


def main() -> None:
    run()

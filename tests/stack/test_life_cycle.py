"""From the first `codehub up` to `codehub reset`, on real services."""

import json
import os
import re
import signal
import stat
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from codehub.stack.account import SYSTEM_USER
from tests.stack.installation import Installation, is_alive, until


def cycle(codehub: Installation) -> None:
    first = codehub.up()
    password = re.search(r"password: +(\S+)", first)
    assert password is not None
    assert len(password[1]) >= 20
    assert codehub.url in first
    assert httpx.get(f"{codehub.url}/readyz").json()["status"] == "ready"

    again = codehub.run("up")
    assert (again.returncode, codehub.url in again.stdout) == (0, True)

    shown = codehub.run("status", "--json")
    parts = {part["name"]: part for part in json.loads(shown.stdout)["parts"]}
    assert {part["state"] for part in parts.values()} == {"ready"}
    assert set(parts) == {"postgres", "valkey", "archives", "serve", "proxy"}

    pids = [codehub.pid, *(part["pid"] for part in parts.values() if part["pid"])]
    codehub.down()
    until(lambda: not any(map(is_alive, pids)), seconds=30)
    assert codehub.run("status").returncode == 8
    assert codehub.run("down").returncode == 8

    second = codehub.up()
    assert "shown at the first start" in second
    assert password[1] not in second
    codehub.down()


def test_up_status_down_and_up_again(codehub: Installation) -> None:
    cycle(codehub)


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as an ordinary user already")
def test_an_ordinary_user_needs_no_privileges(ordinary_codehub: Installation) -> None:
    cycle(ordinary_codehub)
    assert stat.S_IMODE(ordinary_codehub.data.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has another user to run services as")
def test_root_runs_services_as_their_own_user_and_opens_no_folder(codehub: Installation) -> None:
    before = codehub.folder.stat().st_mode
    codehub.up()
    owned = {"postgres": SYSTEM_USER, "valkey": SYSTEM_USER, "serve": "root", "proxy": "root"}
    assert {name: Path(f"/proc/{codehub.part(name)['pid']}").owner() for name in owned} == owned
    server = Path(f"/proc/{codehub.part('postgres')['pid']}/exe").readlink()
    assert server.is_relative_to(codehub.data / "bin"), "the installation itself may lie where they cannot reach it"
    assert codehub.folder.stat().st_mode == before
    assert stat.S_IMODE(codehub.data.stat().st_mode) == 0o710
    private = [path for path in codehub.data.iterdir() if path.is_dir() and path.name not in {"bin", "run", "inside"}]
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o700}
    assert stat.S_IMODE((codehub.data / "credentials.json").stat().st_mode) == 0o600


def test_the_first_password_is_stored_nowhere_in_clear(codehub: Installation) -> None:
    said = re.search(r"password: +(\S+)", codehub.up())
    assert said is not None
    codehub.down()
    secret = said[1].encode()
    assert [file for file in codehub.data.rglob("*") if file.is_file() and secret in file.read_bytes()] == []


def test_in_the_foreground_an_interrupt_stops_it_cleanly(codehub: Installation) -> None:
    with codehub.start("up") as process:
        assert process.stdout is not None
        seen = []
        for line in process.stdout:
            seen.append(line)
            if "It is shown only now" in line:
                break
        assert any(re.search(r"postgres +ready in \d+ ms", line) for line in seen)
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert "codehub has stopped." in rest
    assert "database system is shut down" in (codehub.data / "logs/postgres.log").read_text()


def test_an_interrupt_while_it_starts_leaves_nothing_behind(codehub: Installation) -> None:
    with codehub.start("up") as process:
        until((codehub.data / "state.json").exists, seconds=30)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert codehub.run("status").returncode == 8
    codehub.up()


def test_two_at_once_become_one(codehub: Installation) -> None:
    with codehub.start("up", "--detach") as one, codehub.start("up", "--detach") as other:
        said = [process.communicate(timeout=60) for process in (one, other)]
    assert (one.returncode, other.returncode) == (0, 0), said
    assert sum("It is shown only now" in out for out, _ in said) == 1
    assert all(codehub.url in out for out, _ in said)


def test_a_data_folder_with_a_long_path_has_its_sockets_elsewhere(codehub: Installation) -> None:
    deep = replace(codehub, data=codehub.folder / ("x" * 60) / ("y" * 60))
    deep.environment["CODEHUB_DATA_DIR"] = str(deep.data)
    deep.up()
    command = Path(f"/proc/{deep.part('postgres')['pid']}/cmdline").read_text().split("\0")
    (sockets,) = (Path(word.partition("=")[2]) for word in command if word.startswith("unix_socket_directories="))
    assert sockets.exists()
    assert not sockets.is_relative_to(deep.data)
    deep.down()
    assert not sockets.parent.exists()


def test_doctor_is_content_before_and_during(codehub: Installation) -> None:
    for _ in range(2):
        healthy = codehub.run("doctor", "--json")
        findings = json.loads(healthy.stdout)
        assert healthy.returncode == 0, findings
        codehub.up()
    assert {"postgres", "valkey", "serve", "schema", "archive store"} <= {finding["name"] for finding in findings}


def test_reset_asks_refuses_while_running_and_takes_only_its_own(codehub: Installation) -> None:
    codehub.up()
    assert codehub.run("reset", "--yes").returncode == 1
    codehub.down()
    mine = codehub.data / "codehub.toml"
    mine.write_text("")

    unanswered = codehub.run("reset")
    assert unanswered.returncode == 1
    assert "the database" in unanswered.stdout
    assert (codehub.data / "postgres/data/PG_VERSION").exists()

    assert codehub.run("reset", "--yes").returncode == 0
    assert list(codehub.data.iterdir()) == [mine]
    assert "It is shown only now" in codehub.up()

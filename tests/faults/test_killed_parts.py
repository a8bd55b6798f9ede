"""`kill -9` of any part: ready again without help, nothing lost, and the public address never refuses a visitor."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from codehub.stack.account import service_account
from tests.faults.witness import Witness
from tests.stack.installation import Installation, installation, is_alive, until


@pytest.fixture
def codehub() -> Iterator[Installation]:
    with installation() as made:
        made.up()
        yield made


def is_ready(codehub: Installation) -> bool:
    return httpx.get(f"{codehub.url}/readyz", timeout=60).is_success


@pytest.mark.parametrize("part", ["postgres", "valkey", "serve", "proxy"])
def test_a_killed_part_comes_back_with_everything(codehub: Installation, part: str) -> None:
    witness = Witness(codehub)
    for _ in range(2):
        witness.write()
        supervisor = codehub.pid
        codehub.kill(part)
        until(lambda: is_ready(codehub), seconds=60)
        witness.check()
        assert codehub.pid == supervisor
    assert codehub.part(part)["restarts"] == 2


def test_the_others_go_on_while_one_is_down(codehub: Installation) -> None:
    before = {part["name"]: part["pid"] for part in codehub.state()["parts"]}
    codehub.kill("postgres")
    after = {part["name"]: part["pid"] for part in codehub.state()["parts"]}
    assert [name for name in before if before[name] != after[name]] == ["postgres"]


def test_visitors_wait_instead_of_being_refused_while_serve_restarts(codehub: Installation) -> None:
    address = urlsplit(codehub.url)
    os.kill(codehub.part("serve")["pid"], signal.SIGKILL)
    with socket.create_connection((address.hostname, address.port), timeout=30) as visitor:
        visitor.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert visitor.recv(100).startswith(b"HTTP/1.1 200")


def test_nothing_outlives_the_supervisor_and_the_next_start_finds_everything(codehub: Installation) -> None:
    witness = Witness(codehub)
    witness.write()
    children = [part["pid"] for part in codehub.state()["parts"] if part["pid"]]
    os.kill(codehub.pid, signal.SIGKILL)
    until(lambda: not any(map(is_alive, children)), seconds=60)
    assert codehub.run("status").returncode == 8
    codehub.up()
    witness.check()


def test_who_answers_is_found_after_a_restart_and_a_supervisor_that_was_killed(codehub: Installation) -> None:
    """It leaves sockets with higher numbers than those of the next start (found by `tests.chaos --seed 8001`)."""
    assert codehub.run("restart").returncode == 0
    children = [part["pid"] for part in codehub.state()["parts"] if part["pid"]]
    os.kill(codehub.pid, signal.SIGKILL)
    until(lambda: not any(map(is_alive, children)), seconds=60)
    codehub.up()
    until(lambda: is_ready(codehub), seconds=60)


def test_a_stale_lock_file_that_names_a_living_process_stops_no_start(codehub: Installation) -> None:
    """After a reboot or in a new container, the process id of the killed PostgreSQL may belong to anybody."""
    children = [part["pid"] for part in codehub.state()["parts"] if part["pid"]]
    lock = codehub.data / "postgres/data/postmaster.pid"
    lines = lock.read_text().splitlines()
    os.kill(codehub.pid, signal.SIGKILL)
    until(lambda: not any(map(is_alive, children)), seconds=60)
    account = service_account()
    become = ["setpriv", f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups", "--"]
    with subprocess.Popen([*(become if account.is_other else []), "sleep", "60"]) as anybody:
        account.write_private(lock, "\n".join([str(anybody.pid), *lines[1:]]))
        codehub.up()
        anybody.kill()


def test_an_object_store_that_does_not_come_is_not_waited_for_and_loses_nothing() -> None:
    """Once asked for, SeaweedFS is started again without being asked, for as long as that takes."""
    with installation() as codehub:
        codehub.up("--s3")
        until(lambda: codehub.part("seaweedfs")["state"] == "ready", seconds=90)
        witness = Witness(codehub, with_objects=True)
        witness.write()
        os.kill(codehub.pid, signal.SIGKILL)
        store, away = codehub.data / "seaweedfs/data", codehub.data / "seaweedfs/away"
        store.rename(away)
        store.touch()
        codehub.up()
        assert codehub.part("seaweedfs")["state"] != "ready"
        assert codehub.part("serve")["state"] == "ready"
        store.unlink()
        away.rename(store)
        until(lambda: codehub.part("seaweedfs")["state"] == "ready", seconds=90)
        witness.check()

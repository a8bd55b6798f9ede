"""Control groups of version 2, on plain files: most machines that tests run on have one version or the other."""

from pathlib import Path

import pytest

from codehub.runtimes.local import limits
from codehub.runtimes.local.limits import Group
from codehub.runtimes.protocols import Stats


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids")
    (tmp_path / "codehub/ws").mkdir(parents=True)
    (tmp_path / "codehub/ws/memory.swap.max").touch()
    monkeypatch.setattr(limits, "ROOT", tmp_path)
    return tmp_path


def test_a_group_of_version_2_has_its_limits_before_anybody_is_in_it(root: Path) -> None:
    group = Group("ws")
    group.make(memory_bytes=1000, cpus=0.5, pids=10)
    group.add(1234)
    files = {path.name: path.read_text() for path in (root / "codehub/ws").iterdir()}
    assert files == {
        "memory.max": "1000",
        "memory.swap.max": "0",
        "cpu.max": "50000 100000",
        "pids.max": "14",
        "cgroup.procs": "1234",
    }
    assert (root / "cgroup.subtree_control").read_text() == "+memory +cpu +pids"
    assert (root / "codehub/cgroup.subtree_control").read_text() == "+memory +cpu +pids"


def test_what_a_group_of_version_2_uses_and_suffers_is_read(root: Path) -> None:
    for name, content in {
        "cpu.stat": "usage_usec 1500000\nuser_usec 1000000\n",
        "memory.current": "700\n",
        "memory.max": "1000\n",
        "memory.stat": "anon 500\ninactive_file 200\n",
        "memory.events": "low 0\noom 1\noom_kill 1\n",
        "pids.current": "3\n",
    }.items():
        (root / "codehub/ws" / name).write_text(content)
    assert Group("ws").stats() == Stats(1.5, 500, 1000, 3)
    assert Group("ws").out_of_memory()


def test_a_group_that_is_not_there_uses_nothing(root: Path) -> None:
    assert Group("another").stats() is None
    Group("another").remove()
    assert (root / "codehub/ws").is_dir()

"""A program as a stage of a pipe: what it reads, writes and says, and that its failure is never missed."""

import fcntl
import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import pytest

from codehub.job.faults import JobFault, NoSpace, TryAgain
from codehub.job.programs import PIPE_BYTES, Program, write_all, zstd_compress

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

TOTAL = "Total bytes written: 65536 (64KiB, 1GiB/s)"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def saying(*words: str, status: int = 2) -> tuple[str, ...]:
    """A program that says these lines on its way out."""
    script = "".join(f"echo '{line}' >&2; " for line in words)
    return ("sh", "-c", f"{script}exit {status}")


def fault_of(argv: tuple[str, ...]) -> JobFault:
    with closing(Program(argv)) as program:
        program.status()
        return program.fault()


def test_it_reads_and_writes_through_large_pipes(stack: ExitStack) -> None:
    program = stack.enter_context(closing(Program(("cat",))))
    for pipe in (program.input, program.output):
        assert fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ) == PIPE_BYTES
    with program.input as pipe:
        pipe.write(b"through")
    assert program.output.read() == b"through"
    assert program.status() == 0


def test_it_reads_what_its_source_writes_and_is_the_only_one(stack: ExitStack) -> None:
    source = stack.enter_context(closing(Program(("sh", "-c", "echo from the source"))))
    program = stack.enter_context(closing(Program(("cat",), source=source)))
    assert source.output.closed
    assert program.output.read() == b"from the source\n"


def test_a_silent_one_has_no_output(stack: ExitStack) -> None:
    program = stack.enter_context(closing(Program(("echo", "unheard"), silent=True)))
    assert program.status() == 0
    with pytest.raises(AssertionError):
        program.output.close()


def test_it_runs_in_its_folder_with_nothing_of_our_surroundings(
    stack: ExitStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAR_OPTIONS", "--absolute-names")
    program = stack.enter_context(closing(Program(("env",), tmp_path)))
    told = dict(line.split("=", 1) for line in program.output.read().decode().splitlines())
    assert {name: told[name] for name in told if name != "PWD"} == {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    where = stack.enter_context(closing(Program(("pwd",), tmp_path)))
    assert where.output.read().decode() == f"{tmp_path}\n"


def test_it_is_found_where_programs_usually_are(stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATH")
    program = stack.enter_context(closing(Program(("env",))))
    assert f"PATH={os.defpath}" in program.output.read().decode().splitlines()


def test_one_that_is_not_installed_is_named() -> None:
    with pytest.raises(JobFault) as refused:
        Program(("no-such-program",))
    assert str(refused.value) == "The program no-such-program is not installed."


def test_one_that_was_killed_has_told_nothing_of_its_work(stack: ExitStack) -> None:
    program = stack.enter_context(closing(Program(("cat",))))
    program.kill()
    with pytest.raises(TryAgain) as refused:
        program.status()
    assert str(refused.value) == "cat was ended by SIGKILL."


@pytest.mark.parametrize("status", [0, 1, 2])
def test_its_own_end_is_told(stack: ExitStack, status: int) -> None:
    assert stack.enter_context(closing(Program(saying(status=status)))).status() == status


def test_what_it_has_written_so_far_can_be_seen(stack: ExitStack) -> None:
    program = stack.enter_context(closing(Program(("sh", "-c", "printf %1000s; read line"))))
    assert len(program.output.read(PIPE_BYTES)) == 1000, "what is there is handed on, whatever may follow"
    assert 1000 <= program.written() < 10_000
    program.input.close()
    program.status()
    program.close()
    assert program.written() == 0


def test_its_last_words_are_why_it_failed() -> None:
    assert str(fault_of(saying("first", "last"))) == "sh failed: first\nlast"
    assert str(fault_of(saying())) == "sh failed: it does not say why"
    assert str(fault_of(saying("why", TOTAL))) == "sh failed: why"
    assert str(fault_of(saying(TOTAL))) == "sh failed: it does not say why"


def test_only_the_end_of_many_words_is_kept() -> None:
    said = str(fault_of(saying("x" * 5000, "y" * 999)))
    assert said == "sh failed: " + "\n" + "y" * 999
    script = "import sys; sys.stderr.write('a' * 9000 + 'b' * 3500); sys.exit(1)"
    with closing(Program((sys.executable, "-c", script))) as program:
        program.status()
        assert len(program._words) == 4096  # nobody may fill our memory with words
        assert program._words.endswith(b"ab" + b"b" * 3499)


def test_words_of_any_bytes_can_be_told() -> None:
    assert str(fault_of(("sh", "-c", r"printf '\377' >&2; exit 1"))) == r"sh failed: \xff"


@pytest.mark.parametrize("why", ["No space left on device", "Disk quota exceeded"])
def test_one_without_room_is_told_apart(why: str) -> None:
    fault = fault_of(saying("tar: ./x: Cannot write", "tar: ./x: Odd", f"tar: ./y: {why}", TOTAL))
    assert isinstance(fault, NoSpace)
    assert str(fault) == f"There is no room left (tar: ./y: {why})."


def test_its_total_is_what_it_says_at_its_end(stack: ExitStack) -> None:
    program = stack.enter_context(closing(Program(saying("a warning", TOTAL, status=0))))
    program.status()
    assert program.total() == 65536


def test_one_that_says_no_total_has_failed(stack: ExitStack) -> None:
    program = stack.enter_context(closing(Program(saying("a warning", status=0))))
    program.status()
    with pytest.raises(JobFault, match="sh failed: a warning"):
        program.total()


def test_nothing_of_it_stays_open() -> None:
    program = Program(("cat",))
    program.close()
    assert program.input.closed
    assert program.output.closed
    with pytest.raises(TryAgain):
        program.status()


class Narrow(io.RawIOBase):
    """Takes some bytes at a time, as a raw pipe may."""

    def __init__(self) -> None:
        self.taken = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer") -> int:
        piece = bytes(data)[:7]
        self.taken += piece
        return len(piece)


@pytest.mark.parametrize("size", [0, 6, 7, 8, 100])
def test_a_pipe_is_given_everything_however_little_it_takes_at_a_time(size: int) -> None:
    pipe, data = Narrow(), os.urandom(size)
    write_all(cast("IO[bytes]", pipe), data)
    assert pipe.taken == data


@pytest.mark.parametrize(("level", "said"), [(1, "-1"), (19, "-19")])
def test_zstd_is_told_its_level_and_at_most_four_threads(level: int, said: str) -> None:
    threads = min(4, len(os.sched_getaffinity(0)))
    assert zstd_compress(level) == ("zstd", "--quiet", "--check", said, f"-T{threads}", "--stdout")


def test_zstd_takes_no_more_threads_than_there_are_processors() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert zstd_compress(3)[4] == "-T1"
    finally:
        os.sched_setaffinity(0, before)

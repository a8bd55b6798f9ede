"""The process that stands behind each workspace and each job, its guest (`instance_shim.py`, `job_shim.py`).

It starts the sandbox, is its parent until the end, keeps what it prints and writes down how it ended. It belongs to
nobody: codehub may end, start again or hand over, and the next one finds it by what is written in the folder. If it is
killed itself, the kernel kills the sandbox with it.

SIGTERM asks the guest to end. The shim inherits the lock of its folder and holds it as long as it lives, so that there
is never a second one for the same folder."""

import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from codehub.runtimes.local import limits
from codehub.runtimes.local.guest import Guest
from codehub.runtimes.local.log import Log, Reading
from codehub.runtimes.local.process import Process, all_gone, children
from codehub.runtimes.local.records import Life
from codehub.runtimes.local.system_calls import filter_program

READ_BYTES = 65536
FIRST_LOOK_SECONDS = 0.01
LONGEST_LOOK_SECONDS = 0.5
END_SECONDS = 10.0
KEYCTL = {"x86_64": 250, "aarch64": 219}
KEYCTL_JOIN_SESSION_KEYRING = 1


def main(folder: Path, guest: Callable[[Path], Guest]) -> None:
    """Live on as a process that nobody has to wait for; the one that was started ends when that has begun."""
    os.umask(0o022)
    _leave_keyring()
    reading, writing = os.pipe()
    if os.fork() != 0:
        os.close(writing)
        sys.exit(0 if os.read(reading, 1) else 1)
    os.close(reading)
    life = Life(Process.of(os.getpid()))
    life.write(folder)
    os.write(writing, b"\n")
    os.close(writing)
    Shim(folder, life, guest(folder)).live()


class Shim:
    def __init__(self, folder: Path, life: Life, guest: Guest) -> None:
        self._folder = folder
        self._guest = guest
        self._life = life
        self._log = Log(folder, guest.log_bytes)
        self._signals, self._signalled = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def live(self) -> None:
        signal.signal(signal.SIGTERM, lambda *_: None)
        signal.set_wakeup_fd(self._signalled)
        share = self._guest.share
        group = share.group if limits.groups_obstacle() is None else None
        try:
            if group is not None:
                group.make(share.memory_bytes, share.cpus, share.pids)
            ending = self._run(group)
            if group is not None and group.out_of_memory():
                ending += ", out of memory"
        except OSError as error:
            ending = f"its shim failed: {error}"
        self._guest.leave()
        if group is not None:
            group.remove()
        self._note(replace(self._life, ending=ending))

    def _run(self, group: limits.Group | None) -> str:
        """From the first process to the last; how it ended. Killed processes may take a moment to be gone."""
        self._guest.prepare()
        with ExitStack() as stack:
            stack.callback(lambda: all_gone(self._life.others, END_SECONDS))
            output, printed = os.pipe()
            stack.callback(os.close, output)
            sandboxed, gate = self._hold_at_gate(printed)
            stack.callback(_kill, sandboxed)
            os.close(printed)
            if not gate.recv(1):
                sandboxed.wait()
                return self._failure(output)
            connection = self._surround(children(sandboxed.pid), group)
            if connection:
                stack.callback(_kill, connection)
            gate.send(b"\n")
            gate.close()
            return self._stand_by(sandboxed, connection, output)

    def _hold_at_gate(self, printed: int) -> tuple[subprocess.Popen[bytes], socket.socket]:
        """Start the chain that becomes the sandbox. It waits in its new namespaces until it is told to go on."""
        barred = _in_memory("barred", filter_program())
        told = [*self._guest.arguments(), "--seccomp", str(barred)]
        arguments = _in_memory("arguments", b"".join(os.fsencode(each) + b"\0" for each in told))
        gate, its_side = socket.socketpair()
        process = subprocess.Popen(
            self._guest.command(arguments),
            stdin=its_side.fileno(),
            stdout=printed,
            stderr=printed if self._guest.errors is None else self._guest.errors,
            cwd="/",
            pass_fds=[arguments, barred, *self._guest.kept_open],
        )
        its_side.close()
        os.close(arguments)
        os.close(barred)
        return process, gate

    def _surround(self, held: list[int], group: limits.Group | None) -> subprocess.Popen[bytes] | None:
        """Before the one at the gate may go on: write it down, limit it, close it off and connect it."""
        if not held:
            raise ChildProcessError("the sandbox ended before it began")
        first = held[0]
        self._note(replace(self._life, others=(Process.of(first),)))
        if group is not None:
            group.add(first)
        connection = self._guest.connect(first)
        if connection is not None:
            self._note(replace(self._life, others=(*self._life.others, Process.of(connection.pid))))
            if group is not None:
                group.add(connection.pid)
        return connection

    def _stand_by(
        self, sandboxed: subprocess.Popen[bytes], connection: subprocess.Popen[bytes] | None, output: int
    ) -> str:
        poll = select.poll()
        ended = os.pidfd_open(sandboxed.pid)
        lost = os.pidfd_open(connection.pid) if connection else -1
        for descriptor in (output, self._signals, ended, *([lost] if connection else [])):
            poll.register(descriptor, select.POLLIN)
        look = FIRST_LOOK_SECONDS
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(look * 1000 if look else None)}
            if output in ready and not self._keep(output):
                poll.unregister(output)
            if self._signals in ready:
                os.read(self._signals, READ_BYTES)
                self._ask_to_end()
            if ended in ready:
                return self._ending(sandboxed.wait(), output)
            if connection and lost in ready:
                return f"was ended because slirp4netns, which carries its network, ended with code {connection.wait()}"
            look = 0 if look == 0 or self._guest.publish() else min(look * 1.1, LONGEST_LOOK_SECONDS)

    def _ending(self, code: int, output: int) -> str:
        while self._keep(output):
            continue
        return f"exited with code {code if code >= 0 else 128 - code}"

    def _failure(self, output: int) -> str:
        """It did not even come to the gate."""
        while self._keep(output):
            continue
        said = b" ".join(line.strip() for line in Reading(self._folder).last_lines(2)).decode(errors="replace")
        return f"could not be started: {said}"

    def _keep(self, output: int) -> bool:
        """Add what was printed to the log; False when nobody is left to print."""
        piece = os.read(output, READ_BYTES)
        self._log.write(piece)
        return bool(piece)

    def _ask_to_end(self) -> None:
        """The first processes of the two pid namespaces never hear SIGTERM. The children of the inner one are the
        guest, and orphans."""
        for outer in self._life.others[:1]:
            for inner in children(outer.pid):
                for pid in children(inner):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGTERM)

    def _note(self, life: Life) -> None:
        self._life = life
        life.write(self._folder)


def _leave_keyring() -> None:
    """Have a keyring of our own: whatever keys the session that codehub was started in possesses, workspaces would
    possess too. Where the number of the call is not known, or the kernel has no keyrings, there is nothing to do."""
    if (number := KEYCTL.get(os.uname().machine)) is not None:
        ctypes.CDLL(None).syscall(number, KEYCTL_JOIN_SESSION_KEYRING, None)


def _in_memory(name: str, content: bytes) -> int:
    """A file of which there is nothing but its descriptor, to be read from its beginning."""
    descriptor = os.memfd_create(name)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()

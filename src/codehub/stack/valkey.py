"""Valkey as codehub runs it: the server of the wheel, on a unix socket, writing each change to an append-only file."""

import json
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from codehub.stack.account import Account
from codehub.telemetry.health import Check, check_redis


@dataclass(frozen=True)
class Valkey:
    folder: Path
    sockets: Path
    programs: Path
    account: Account
    password: str = field(repr=False)
    log: Path

    name = "valkey"
    stop_signal = signal.SIGTERM
    stop_seconds = 10.0
    death_signal = signal.SIGTERM
    inherited = ()

    @property
    def socket(self) -> Path:
        return self.sockets / "valkey.sock"

    @property
    def url(self) -> str:
        return f"unix://:{quote(self.password, safe='')}@{quote(str(self.socket))}"

    def prepare(self) -> None:
        """Write the configuration, in a file because a password among the arguments would show in `ps`."""
        self.account.make_folder(self.folder)
        self.account.make_folder(self.sockets)
        settings = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "requirepass": self.password,
            "dir": str(self.folder),
            "appendonly": "yes",
            "save": "",
            "daemonize": "no",
        }
        lines = [f"{key} {json.dumps(value)}\n" for key, value in settings.items()]
        self.account.write_private(self.folder / "valkey.conf", "".join(lines))

    def argv(self) -> Sequence[str]:
        return [str(self.programs / "valkey-server"), str(self.folder / "valkey.conf")]

    def environment(self) -> Mapping[str, str]:
        return {}

    async def check(self) -> Check:
        return await check_redis(self.url)

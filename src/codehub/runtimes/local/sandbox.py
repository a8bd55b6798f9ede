"""The walls around a workspace: how bubblewrap is called, and by whom.

A chain of programs, each becoming the next, ends in bubblewrap. As root the first of them lets an unprivileged user see
the few folders that the workspace is made of, in a mount namespace of its own, because they lie in a folder that is
closed to everybody; then that user takes over. From there on root and an ordinary user do the same."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from codehub.model import inside
from codehub.runtimes.local import limits
from codehub.runtimes.local.network import NAME_SERVER
from codehub.runtimes.local.records import ETC, Plan

UID = 1000
HOME = "/home/coder"
SOCKET_FOLDER = "/run/codehub"
SOCKET = f"{SOCKET_FOLDER}/ide.sock"
VIEWS = (Path("/mnt"), Path("/media"), Path("/srv"), Path("/opt"))
TEMPORARY_SHARE = 4  # of the memory, which files in /tmp are counted against
RUN_BYTES = 16 * 1024**2
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
FROM_HOST = (
    "alternatives", "bash.bashrc", "bash_completion.d", "ca-certificates", "ca-certificates.conf", "crypto-policies",
    "debian_version", "fonts", "inputrc", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "magic",
    "mime.types", "os-release", "pki/ca-trust", "pki/tls/certs", "profile.d", "protocols", "rpc", "services",
    "shells", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone",
)  # fmt: skip
"""What programs look up in /etc and what is the same for everybody. No passwords, keys or names of the host's users."""
ENVIRONMENT = {
    "HOME": HOME,
    "USER": "coder",
    "LOGNAME": "coder",
    "SHELL": "/bin/bash",
    "LANG": "C.UTF-8",
    "PATH": f"{HOME}/.local/bin:/usr/local/bin:/usr/bin:/bin",
}
PROFILE = """
if [ -n "${PS1-}" ] && [ -n "${BASH-}" ] && [ -r /etc/bash.bashrc ]; then . /etc/bash.bashrc; fi
for profile in /etc/profile.d/*.sh; do if [ -r "$profile" ]; then . "$profile"; fi; done
unset profile
"""
"""What login shells read, such as JupyterLab's terminals. Not the host's: that forgets the PATH which was given."""

# Let the shim know that the namespaces are there, and go on when it says so; if it is gone, end.
_AT_THE_GATE = 'echo >&0 && read -r _ && exec "$@" </dev/null'
_SHOW = """
mount -t tmpfs -o mode=0711 codehub "$1"
shift
while [ "$1" != -- ]; do mkdir "$2"; mount --bind "$1" "$2"; shift 2; done
shift
exec "$@"
"""


def host_name(plan: Plan) -> str:
    return f"ws-{plan.workspace_id.hex[:8]}"


def made_files(plan: Plan, *, network: bool) -> Mapping[str, str]:
    """The files of the workspace's own /etc, by name."""
    return {
        "passwd": f"root:x:0:0:root:/:/usr/sbin/nologin\ncoder:x:{UID}:{UID}:coder:{HOME}:/bin/bash\n",
        "group": f"root:x:0:\ncoder:x:{UID}:\n",
        "hostname": f"{host_name(plan)}\n",
        "hosts": f"127.0.0.1 localhost {host_name(plan)}\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
        "profile": PROFILE,
        "resolv.conf": f"nameserver {NAME_SERVER}\noptions edns0\n" if network else "",
    }


def become(uid: int | None, group: int | None = None) -> list[str]:
    """The beginning of a command that runs as the workspace's user, in one further group at most, and dies with its
    parent, come what may."""
    groups = "--clear-groups" if group is None else f"--groups={group}"
    user = [] if uid is None else [f"--reuid={uid}", f"--regid={uid}", groups]
    return ["setpriv", *user, "--no-new-privs", "--pdeathsig=KILL", "--"]


def command(plan: Plan, folder: Path, arguments: int) -> list[str]:
    limited = limits.command(plan.memory_bytes, plan.pids)
    return chain(view(plan, folder), become(plan.uid), limited, arguments, plan.argv)


def chain(
    places: Mapping[Path, Path], become: Sequence[str], limited: Sequence[str], arguments: int, argv: Sequence[str]
) -> list[str]:
    """The whole chain. What bubblewrap is to do comes through a descriptor: a command line is there for all to read,
    and the environment in it is not for all.

    There is a pid namespace around bubblewrap's own, whose first process waits at the gate and then becomes bubblewrap:
    when that one dies the kernel ends all of it. Bubblewrap alone, killed while it starts, may leave a child behind."""
    return [
        *_show(places),
        *become,
        *("unshare", "--user", "--map-root-user", "--net", "--pid", "--kill-child", "--"),
        *("sh", "-c", _AT_THE_GATE, "sh"),
        *limited,
        *("bwrap", "--args", str(arguments), "--", *argv),
    ]


def view(plan: Plan, folder: Path) -> dict[Path, Path]:
    shown = () if plan.shown is None else (plan.shown,)
    return seen_by(plan.uid, (plan.home, plan.inside, plan.tool, folder / ETC, *shown))


def seen_by(uid: int | None, sources: Sequence[Path]) -> dict[Path, Path]:
    """Where the workspace's user finds these folders: as root in one that hides none of them."""
    if uid is None:
        return {source: source for source in sources}
    hidden = [parent for source in sources for parent in source.resolve().parents]
    place = next((each for each in VIEWS if each.is_dir() and each not in hidden), None)
    if place is None:
        raise FileNotFoundError(f"none of {', '.join(map(str, VIEWS))} is there and free of what is to be shown")
    return {source: place / str(number) for number, source in enumerate(sources)}


def _show(places: Mapping[Path, Path]) -> list[str]:
    """The beginning of a command that sees the folders in their places; none is needed where that is where they are."""
    pairs = [str(path) for pair in places.items() if pair[0] != pair[1] for path in pair]
    if not pairs:
        return []
    return ["unshare", "--mount", "sh", "-ec", _SHOW, "sh", str(Path(pairs[1]).parent), *pairs, "--"]


def arguments(plan: Plan, folder: Path) -> list[str]:
    """What bubblewrap is told (contract 13). Nothing of the host is in the workspace but what is named here, and all of
    it but the home, the temporary folders and the folder of the socket is read-only."""
    seen = view(plan, folder)
    temporary = str(plan.memory_bytes // TEMPORARY_SHARE)
    told: list[str] = [
        *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *("--disable-userns", "--uid", str(UID), "--gid", str(UID), "--cap-drop", "ALL"),
        *("--die-with-parent", "--new-session", "--hostname", host_name(plan)),
    ]
    told += system()
    for name in FROM_HOST:
        told += ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    for name in made_files(plan, network=False):
        told += ("--ro-bind", str(seen[folder / ETC] / name), f"/etc/{name}")
    told += ("--proc", "/proc", "--dev", "/dev", "--size", temporary, "--tmpfs", "/dev/shm", "--remount-ro", "/dev")  # noqa: S108
    told += ("--perms", "1777", "--size", temporary, "--tmpfs", "/tmp", "--symlink", "../tmp", "/var/tmp")  # noqa: S108
    told += ("--size", str(RUN_BYTES), "--tmpfs", "/run", "--bind", str(seen[plan.inside]), SOCKET_FOLDER)
    told += ("--bind", str(seen[plan.home]), HOME, "--ro-bind", str(seen[plan.tool]), str(plan.tool))
    if plan.shown is not None:
        told += ("--ro-bind", str(seen[plan.shown]), inside.FOLDER)
    told += ("--remount-ro", "/", "--chdir", HOME, "--clearenv")
    for name, value in _environment(plan).items():
        told += ("--setenv", name, value)
    return told


def _environment(plan: Plan) -> dict[str, str]:
    known = ENVIRONMENT | plan.environment
    return known if plan.shown is None else known | {"PATH": f"{known['PATH']}:{inside.PROGRAMS}"}


def system() -> list[str]:
    """The folders of programs as the host has them: where one is a link into /usr, the same link."""
    told: list[str] = []
    for path in SYSTEM:
        is_link = Path(path).is_symlink()
        told += ("--symlink", str(Path(path).readlink()), path) if is_link else ("--ro-bind-try", path, path)
    return told

# Shared by the scripts beside it: finds Python, makes the virtual environment, installs what the lock files name.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
die() { printf 'codehub: %s\n' "$*" >&2; exit 1; }

# Behind a proxy, apt and Docker need what tells of it, and sudo would forget it.
proxies=http_proxy,https_proxy,no_proxy,HTTP_PROXY,HTTPS_PROXY,NO_PROXY

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo --preserve-env="$proxies" "$@"
    else die "'$*' needs root: run it as root, or install sudo, and try again"
    fi
}

can_be_root() { [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo true; }; }

show_progress() { # on a terminal, the last line of a long output; errors come another way
    local line
    while IFS= read -r line; do
        if [ -t 2 ]; then printf '\r\033[K    %.100s' "$line" >&2; fi
    done
    if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

install_packages() { # Debian packages, by name
    command -v apt-get >/dev/null || die "please install with your system's package manager: $*"
    say "installing Debian packages: $*"
    as_root apt-get update -qq || say "going on with the package lists that are there"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 "$@" | show_progress
}

missing_packages() {
    local name
    for name in "$@"; do
        dpkg-query --show --showformat '${Status}' "$name" 2>/dev/null | grep -q "ok installed" || echo "$name"
    done
}

ensure_packages() { # installs those that are missing
    local missing
    missing=$(missing_packages "$@")
    [ -z "$missing" ] || install_packages $missing
}

# want_sandboxes: the packages for running workspaces where no engine answers. codehub itself starts without them.
want_sandboxes() {
    local missing
    if docker version >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null; then return; fi
    missing=$(missing_packages $(.venv/bin/python -c 'from codehub.images.packages import for_sandboxes; print(*for_sandboxes())'))
    if [ -z "$missing" ]; then return; fi
    say "no Docker engine answers to this user, so workspaces will run in sandboxes on this machine"
    if can_be_root && (install_packages $missing); then return; fi
    say "workspaces may not start until an administrator has installed:" $missing
}

# ensure_engine: a Docker engine answers, if only to root. One that was started here is stopped by stop_engine; never a
# second one.
ensure_engine() {
    if docker version >/dev/null 2>&1; then return; fi
    if ! can_be_root; then
        say "no Docker engine answers to this user, who cannot start one: its tests are skipped"
        return
    fi
    ensure_packages docker.io iptables
    if ! pgrep -x dockerd >/dev/null; then
        say "starting a Docker engine for this run"
        engine_started=yes
        as_root sh -c 'setsid dockerd >/tmp/codehub-dockerd.log 2>&1 &'
    fi
    for _ in $(seq 150); do
        if as_root docker version >/dev/null 2>&1; then engine_group=$(stat --format %g /var/run/docker.sock); return; fi
        sleep 0.2
    done
    say "no Docker engine answers here (one that was started writes to /tmp/codehub-dockerd.log): its tests are skipped"
}

stop_engine() {
    [ "${engine_started:-}" = yes ] && as_root sh -c 'kill "$(cat /var/run/docker.pid)"' || true
}

# with_engine COMMAND: run by this user, who for its time is in the group that may use the engine. sudo forgets the
# environment, and calls the user root.
with_engine() {
    if [ -z "${engine_group:-}" ] || [ "$(id -u)" = 0 ]; then "$@"; return; fi
    as_root setpriv --reuid "$(id -u)" --regid "$(id -g)" --groups "$(id -G | tr ' ' ,),$engine_group" \
        env HOME="$HOME" PATH="$PATH" USER="$(id -un)" LOGNAME="$(id -un)" $(env | grep '^CODEHUB_TEST_' || true) "$@"
}

find_python() { # the system's own first: the services' users can run it, unlike one inside a private home
    local python
    for python in /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
        if command -v "$python" >/dev/null && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$python"
            return
        fi
    done
    die "Python 3.11 or newer is needed and was not found"
}

# ensure_environment LOCK: .venv holds exactly what requirements/LOCK.lock names, and codehub itself.
ensure_environment() {
    local lock="$1" stamp=".venv/$1.stamp" python
    if [ -e "$stamp" ] && [ "$(cat "$stamp")" = "$(fingerprint "$lock")" ]; then return; fi
    if ! [ -x .venv/bin/python ] || ! .venv/bin/python -c 'import pip' 2>/dev/null; then
        python=$(find_python)
        say "making a virtual environment in .venv with $python"
        if ! "$python" -m venv --clear .venv >/dev/null 2>&1; then
            install_packages python3-venv
            "$python" -m venv --clear .venv
        fi
    fi
    say "installing the packages of requirements/$lock.lock (about a minute the first time)"
    .venv/bin/python -m pip install --disable-pip-version-check --progress-bar off --require-hashes --only-binary :all: \
        -r "requirements/$lock.lock" | show_progress
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
    for subset in $(subsets "$lock"); do fingerprint "$subset" > ".venv/$subset.stamp"; done
}

fingerprint() { cat pyproject.toml "requirements/$1.lock" | sha256sum; }

subsets() { # each lock holds all that the ones after it hold, in the same versions
    case "$1" in
        dev) echo dev s3 runtime ;;
        s3) echo s3 runtime ;;
        *) echo "$1" ;;
    esac
}

# Shared by the scripts beside it: finds Python, makes the virtual environment, installs what the lock files name.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
die() { printf 'codehub: %s\n' "$*" >&2; exit 1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo "$@"
    else die "'$*' needs root: run it as root, or install sudo, and try again"
    fi
}

install_packages() { # Debian packages, by name
    command -v apt-get >/dev/null || die "please install with your system's package manager: $*"
    say "installing Debian packages: $*"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

ensure_packages() { # installs those that are missing
    local missing=() name
    for name in "$@"; do
        dpkg-query --show --showformat '${Status}' "$name" 2>/dev/null | grep -q "ok installed" || missing+=("$name")
    done
    [ "${#missing[@]}" = 0 ] || install_packages "${missing[@]}"
}

# ensure_engine: a Docker engine answers. One that was started here is stopped by stop_engine; never a second one.
ensure_engine() {
    if docker version >/dev/null 2>&1; then return; fi
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        say "no Docker engine answers to this user, who has no sudo to start one: its tests are skipped"
        return
    fi
    ensure_packages docker.io iptables
    if as_root pgrep -x dockerd >/dev/null; then say "a Docker engine is there but does not answer"; return; fi
    say "starting a Docker engine for this run"
    as_root sh -c 'setsid dockerd >/tmp/codehub-dockerd.log 2>&1 &'
    for _ in $(seq 150); do
        if as_root docker version >/dev/null 2>&1; then engine_started=yes; return; fi
        sleep 0.2
    done
    say "no Docker engine can run here (see /tmp/codehub-dockerd.log): its tests are skipped"
}

stop_engine() {
    [ "${engine_started:-}" = yes ] && as_root sh -c 'kill "$(cat /var/run/docker.pid)"' || true
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
    if ! [ -x .venv/bin/python ] || ! .venv/bin/python -c '' 2>/dev/null; then
        python=$(find_python)
        say "making a virtual environment in .venv with $python"
        if ! "$python" -m venv --clear .venv >/dev/null 2>&1; then
            install_packages python3-venv
            "$python" -m venv --clear .venv
        fi
    fi
    say "installing the packages of requirements/$lock.lock (about a minute the first time)"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "requirements/$lock.lock"
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

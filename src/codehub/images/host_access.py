"""How this machine reaches packages: its certificates, proxies and mirrors, handed to a build for as long as it lasts.

Taken from where pip, npm and apt themselves look. What points into this machine only (a folder of wheels, a proxy on
the loopback interface) is left out: nobody inside a build could reach it.
"""

import configparser
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

SYSTEM_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
PROXIES = ("http_proxy", "https_proxy", "no_proxy")
LOOPBACK = re.compile(r"//(?:[^/@]*@)?(?:localhost|127\.|\[::1\])")
PIP_KEYS = ("index-url", "extra-index-url", "trusted-host")
NPM_KEYS = re.compile(r"^(?:registry|@[^:]+:registry|//[^:]+:_?\w+|strict-ssl|always-auth)\s*=", re.IGNORECASE)
SUITES = ("bookworm", "bookworm-updates", "bookworm-security")


@dataclass(frozen=True, slots=True)
class HostAccess:
    ca: bytes | None = None
    proxies: tuple[tuple[str, str], ...] = ()
    pip: tuple[tuple[str, str], ...] = ()
    npm: tuple[str, ...] = ()
    apt: tuple[str, ...] = ()
    """Lines of sources.list; empty for the base image's own."""

    def files(self, *, trust_ca: bool = False) -> dict[str, bytes]:
        """The folder `/host` of a build: files for pip, npm and apt, and an `environment` that points to them."""
        variables = {name: value for pair in self.proxies for name, value in (pair, (pair[0].upper(), pair[1]))}
        found: dict[str, bytes] = {}
        if self.ca is not None:
            found["ca.crt"] = self.ca
            variables |= dict.fromkeys(("PIP_CERT", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"), "/host/ca.crt")
        if self.pip:
            found["pip.conf"] = "\n".join(["[global]", *(f"{key} = {value}" for key, value in self.pip), ""]).encode()
            variables["PIP_CONFIG_FILE"] = "/host/pip.conf"
        if self.npm:
            found["npmrc"] = "\n".join([*self.npm, ""]).encode()
            variables["NPM_CONFIG_USERCONFIG"] = "/host/npmrc"
        if self.ca is not None or self.apt:
            found["apt.conf"] = "\n".join([*self._apt_options(), ""]).encode()
            found["sources.list"] = "\n".join([*self.apt, ""]).encode()
            variables["APT_CONFIG"] = "/host/apt.conf"
        if trust_ca:
            variables["TRUST_HOST_CA"] = "1"
        exports = (f"export {name}={shlex.quote(value)}" for name, value in sorted(variables.items()))
        return {**found, "environment": "\n".join([*exports, ""]).encode()}

    def _apt_options(self) -> Iterator[str]:
        if self.ca is not None:
            yield 'Acquire::https::CaInfo "/host/ca.crt";'
        if self.apt:
            yield 'Dir::Etc::sourcelist "/host/sources.list";'
            yield 'Dir::Etc::sourceparts "-";'


def find_host_access(environment: Mapping[str, str] | None = None, root: Path = Path("/")) -> HostAccess:
    """What this machine uses. `root` is where its files lie; another one is for tests."""
    variables = os.environ if environment is None else environment
    home = root / variables.get("HOME", "/nowhere").lstrip("/")
    return HostAccess(
        ca=_ca(variables, root),
        proxies=tuple(_proxies(variables)),
        pip=tuple(_pip(variables, [root / "etc/pip.conf", home / ".pip/pip.conf", home / ".config/pip/pip.conf"])),
        npm=tuple(_npm(variables, home / ".npmrc")),
        apt=tuple(_apt(root / "etc/apt", root / "etc/os-release")),
    )


def find_bundle(variables: Mapping[str, str], root: Path = Path("/")) -> Path | None:
    """The certificates that this machine trusts: those that the environment names, else the system's."""
    named = (variables.get(name) for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"))
    candidates = [*(root / path.lstrip("/") for path in named if path), root / SYSTEM_BUNDLE.relative_to("/")]
    return next((path for path in candidates if path.is_file()), None)


def _ca(variables: Mapping[str, str], root: Path) -> bytes | None:
    bundle = find_bundle(variables, root)
    return bundle.read_bytes() if bundle else None


def _proxies(variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name in PROXIES:
        value = variables.get(name) or variables.get(name.upper())
        if value and not LOOPBACK.search(value):
            yield name, value


def _pip(variables: Mapping[str, str], files: list[Path]) -> Iterator[tuple[str, str]]:
    """Later files win over earlier ones and the environment over all, as in pip."""
    config = configparser.RawConfigParser()
    config.read(files)
    for key in PIP_KEYS:
        named = variables.get(f"PIP_{key.upper().replace('-', '_')}")
        value = named or config.get("global", key, fallback="") or ""
        reachable = [word for word in value.split() if key == "trusted-host" or _is_remote(word)]
        if reachable:
            yield key, " ".join(reachable)


def _is_remote(url: str) -> bool:
    return url.startswith(("http://", "https://")) and not LOOPBACK.search(url)


def _npm(variables: Mapping[str, str], npmrc: Path) -> Iterator[str]:
    """The registry and what it takes to use it."""
    lines = npmrc.read_text().splitlines() if npmrc.is_file() else []
    named = variables.get("npm_config_registry") or variables.get("NPM_CONFIG_REGISTRY")
    if named:
        lines = [*(line for line in lines if not line.startswith("registry")), f"registry={named}"]
    return (line.strip() for line in lines if NPM_KEYS.match(line.strip()) and not LOOPBACK.search(line))


def _apt(folder: Path, os_release: Path) -> Iterator[str]:
    """Debian's own packages as this machine gets them, provided that it is the same Debian. Third parties' repositories
    are not taken: the base does not have their keys."""
    if not os_release.is_file() or "VERSION_CODENAME=bookworm" not in os_release.read_text():
        return
    for uri, suite, components in _sources(folder):
        if suite in SUITES and "main" in components and _is_remote(uri):
            yield f"deb {uri} {suite} main"


def _sources(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """(URI, suite, components) of both formats that apt reads."""
    for file in [folder / "sources.list", *sorted(folder.glob("sources.list.d/*.list"))]:
        for line in file.read_text().splitlines() if file.is_file() else []:
            found = re.match(r"deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)\s+(.+)", line)
            if found:
                yield found[1], found[2], found[3].split()
    for file in sorted(folder.glob("sources.list.d/*.sources")):
        for stanza in re.split(r"\n\s*\n", file.read_text()):
            fields = dict(re.findall(r"^(\w[\w-]*):[ \t]*(.*)$", stanza, re.MULTILINE))
            if "deb" in fields.get("Types", "").split() and fields.get("Enabled", "yes") != "no":
                for uri in fields.get("URIs", "").split():
                    for suite in fields.get("Suites", "").split():
                        yield uri, suite, fields.get("Components", "").split()

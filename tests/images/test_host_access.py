"""How a machine reaches packages, read from where its tools look, and written down for a build."""

from pathlib import Path

from codehub.images.host_access import HostAccess, find_bundle, find_host_access


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def exports(access: HostAccess) -> dict[str, str]:
    lines = access.files()["environment"].decode().splitlines()
    pairs = (line.removeprefix("export ").partition("=") for line in lines)
    return {name: value for name, _, value in pairs}


def test_a_plain_machine_hands_over_nothing(tmp_path: Path) -> None:
    access = find_host_access({}, tmp_path)
    assert access == HostAccess()
    assert access.files() == {"environment": b""}


def test_the_certificates_are_those_that_the_environment_names(tmp_path: Path) -> None:
    write(tmp_path / "etc/ssl/certs/ca-certificates.crt", "the system's")
    assert find_host_access({}, tmp_path).ca == b"the system's"
    write(tmp_path / "proxy.crt", "the proxy's")
    assert find_host_access({"REQUESTS_CA_BUNDLE": "/proxy.crt"}, tmp_path).ca == b"the proxy's"
    assert find_host_access({"SSL_CERT_FILE": "/gone.crt"}, tmp_path).ca == b"the system's"
    assert find_bundle({}, tmp_path) == tmp_path / "etc/ssl/certs/ca-certificates.crt"


def test_pip_npm_and_apt_are_pointed_to_files_of_the_build() -> None:
    mirror = ("deb http://mirror.example/debian bookworm main",)
    access = HostAccess(
        ca=b"x", pip=(("index-url", "https://mirror.example/"),), npm=("registry=https://m/",), apt=mirror
    )
    assert exports(access) == {
        "APT_CONFIG": "/host/apt.conf",
        "NODE_EXTRA_CA_CERTS": "/host/ca.crt",
        "NPM_CONFIG_USERCONFIG": "/host/npmrc",
        "PIP_CERT": "/host/ca.crt",
        "PIP_CONFIG_FILE": "/host/pip.conf",
        "SSL_CERT_FILE": "/host/ca.crt",
    }
    files = access.files()
    assert files["sources.list"].decode().splitlines() == list(mirror)
    assert b'Dir::Etc::sourcelist "/host/sources.list";' in files["apt.conf"]


def test_workspaces_trust_the_certificates_only_where_that_is_asked_for() -> None:
    access = HostAccess(ca=b"x")
    assert b"TRUST_HOST_CA" not in access.files()["environment"]
    assert b"export TRUST_HOST_CA=1" in access.files(trust_ca=True)["environment"]


def test_of_pip_later_files_and_the_environment_win(tmp_path: Path) -> None:
    write(tmp_path / "etc/pip.conf", "[global]\nindex-url = https://one.example/simple\ntrusted-host = one.example\n")
    write(tmp_path / "home/me/.config/pip/pip.conf", "[global]\nindex-url = https://two.example/simple\n")
    home = {"HOME": "/home/me"}
    assert find_host_access(home, tmp_path).pip == (
        ("index-url", "https://two.example/simple"),
        ("trusted-host", "one.example"),
    )
    named = find_host_access({**home, "PIP_INDEX_URL": "https://three.example/simple"}, tmp_path)
    assert named.pip[0] == ("index-url", "https://three.example/simple")


def test_what_only_this_machine_can_reach_is_left_out(tmp_path: Path) -> None:
    write(
        tmp_path / "etc/pip.conf",
        "[global]\nindex-url = http://127.0.0.1:3141/root\nextra-index-url = file:///opt/wheels https://m.example/simple\n",
    )
    access = find_host_access({"http_proxy": "http://localhost:3128", "HTTPS_PROXY": "http://p.example:3128"}, tmp_path)
    assert access.pip == (("extra-index-url", "https://m.example/simple"),)
    assert access.proxies == (("https_proxy", "http://p.example:3128"),)
    assert exports(access)["HTTPS_PROXY"] == exports(access)["https_proxy"] == "http://p.example:3128"


def test_of_npm_only_what_leads_to_its_registry_is_taken(tmp_path: Path) -> None:
    write(
        tmp_path / "home/me/.npmrc",
        "registry=https://m.example/npm/\n//m.example/npm/:_authToken=s3cret\nnodedir=/usr\n@acme:registry=https://a/\n",
    )
    assert find_host_access({"HOME": "/home/me"}, tmp_path).npm == (
        "registry=https://m.example/npm/",
        "//m.example/npm/:_authToken=s3cret",
        "@acme:registry=https://a/",
    )


def test_of_apt_only_debian_itself_and_only_the_same_debian(tmp_path: Path) -> None:
    write(tmp_path / "etc/apt/sources.list", "# deb http://old.example/ bookworm main\n")
    write(
        tmp_path / "etc/apt/sources.list.d/debian.sources",
        "Types: deb deb-src\n# a note\nURIs: http://m.example/debian\nSuites: bookworm bookworm-updates\n"
        "Components: main contrib\n\nTypes: deb\nURIs: http://m.example/security\nSuites: bookworm-security\n"
        "Components: main\n\nTypes: deb\nURIs: http://off.example/\nSuites: bookworm\nComponents: main\nEnabled: no\n",
    )
    write(tmp_path / "etc/apt/sources.list.d/other.list", "deb [arch=amd64] https://third.example/ bookworm stable\n")
    assert find_host_access({}, tmp_path).apt == ()
    write(tmp_path / "etc/os-release", "ID=debian\nVERSION_CODENAME=bookworm\n")
    assert find_host_access({}, tmp_path).apt == (
        "deb http://m.example/debian bookworm main",
        "deb http://m.example/debian bookworm-updates main",
        "deb http://m.example/security bookworm-security main",
    )

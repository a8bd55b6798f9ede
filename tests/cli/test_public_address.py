"""Where people reach codehub, as the options of `codehub up` say it."""

from pathlib import Path

import pytest

from codehub.cli.public_address import PublicAddress
from codehub.errors import ConfigurationError
from codehub.settings import Settings
from codehub.settings.origins import is_open_without_tls

CERTIFICATE = Path("/etc/codehub/fullchain.pem")


@pytest.fixture(autouse=True)
def nothing_is_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CODEHUB_DATA_DIR", str(tmp_path / "data"))


def found(settings: Settings) -> tuple[str, str | None]:
    return settings.codehub.listen, settings.codehub.public_url


@pytest.mark.parametrize(
    ("asked", "listen", "public_url"),
    [
        (PublicAddress(), "127.0.0.1:8080", None),
        (PublicAddress(domain="dev.test"), "127.0.0.1:8080", "https://codehub.dev.test"),
        (PublicAddress(domain="dev.test", certificate=CERTIFICATE), "0.0.0.0:443", "https://codehub.dev.test"),
        (PublicAddress(domain="dev.test", insecure=True), "0.0.0.0:80", "http://codehub.dev.test"),
        (
            PublicAddress("[::]:8443", "dev.test", CERTIFICATE),
            "[::]:8443",
            "https://codehub.dev.test:8443",
        ),
        (PublicAddress("0.0.0.0:8080", insecure=True), "0.0.0.0:8080", None),
        (PublicAddress("127.0.0.2:8080"), "127.0.0.2:8080", None),
    ],
)
def test_a_domain_says_where_codehub_and_workspaces_are(
    asked: PublicAddress, listen: str, public_url: str | None
) -> None:
    settings = asked.settings()
    assert found(settings) == (listen, public_url)
    assert settings.proxy.domain == (asked.domain or "localhost")


def test_what_is_set_elsewhere_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEHUB_LISTEN", "192.0.2.7:443")
    monkeypatch.setenv("CODEHUB_PUBLIC_URL", "https://codehub.test")
    asked = PublicAddress(domain="dev.test", certificate=CERTIFICATE)
    assert found(asked.settings()) == ("192.0.2.7:443", "https://codehub.test")


@pytest.mark.parametrize("listen", ["0.0.0.0:8080", "[::]:8080", "192.0.2.7:8080", "codehub.test:8080"])
def test_where_others_reach_it_nothing_is_said_in_clear_unless_somebody_decides_so(listen: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        PublicAddress(listen).settings()
    assert "--insecure" in refused.value.remedy
    assert "--cert" in refused.value.remedy
    settings = PublicAddress(listen, insecure=True).settings()
    assert is_open_without_tls(settings.codehub, settings.proxy)


def test_an_https_address_of_a_proxy_in_front_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEHUB_PUBLIC_URL", "https://codehub.test")
    settings = PublicAddress("0.0.0.0:8080").settings()
    assert not is_open_without_tls(settings.codehub, settings.proxy)

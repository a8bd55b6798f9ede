"""What a request asks for: one reading of host and target, and what is not exactly right is nowhere."""

from uuid import UUID

import pytest

from codehub.decide.origins import Origins
from codehub.proxy.places import Api, At, Named, Nowhere, Places

ID = UUID("0b7c1c2e-5f0e-4c44-9f1c-6c1a2f6f3d10")
HEX = ID.hex.encode()
OWN = Places(Origins("https://codehub.example.org", "example.org"))
SHARED = Places(Origins("https://codehub.example.org", "localhost", "https://workspaces.example.org"))


@pytest.mark.parametrize("port", [b"", b":443", b":8080"])
@pytest.mark.parametrize("target", [b"/", b"/x?y=/w/", b"/../x", b"//", b"*"])
def test_a_name_below_the_domain_is_a_workspace_with_all_of_its_target(port: bytes, target: bytes) -> None:
    assert OWN.find(HEX + b".example.org" + port, target) == At(ID, b"", target)


@pytest.mark.parametrize(
    "host",
    [
        b"x." + HEX + b".example.org",
        b".example.org",
        b"a_b.example.org",
        b"-a.example.org",
        b"a-.example.org",
        b"x" * 64 + b".example.org",
    ],
)
def test_what_is_below_the_domain_and_no_workspace_is_nowhere(host: bytes) -> None:
    assert OWN.find(host, b"/api/v1/me") == Nowhere()


@pytest.mark.parametrize(
    "host",
    [
        b"codehub.example.org",
        b"codehub.example.org:8443",
        b"127.0.0.1:8080",
        b"[::1]:8080",
        b"example.org",
        HEX + b".example.org.",
        HEX + b".evil-example.org",
        HEX + b".example.org.evil.net",
    ],
)
def test_everything_else_is_the_apis_which_knows_its_own_names(host: bytes) -> None:
    assert OWN.find(host, b"/") == Api()


@pytest.mark.parametrize("name", [b"garden", b"a", b"my-shop-2", HEX[:31], HEX + b"0", HEX[:-1] + b"g"])
def test_a_name_is_only_a_name(name: bytes) -> None:
    assert OWN.find(name + b".example.org", b"/") == Named(name)


@pytest.mark.parametrize(
    ("target", "inside"),
    [
        (b"/w/" + HEX, b""),
        (b"/w/" + HEX + b"?x", b"?x"),
        (b"/w/" + HEX + b"/", b"/"),
        (b"/w/" + HEX + b"/../" + b"0" * 32 + b"/x", b"/../" + b"0" * 32 + b"/x"),
        (b"/w/" + HEX + b"/%2e%2e/x", b"/%2e%2e/x"),
        (b"/w/" + HEX + b"//x", b"//x"),
    ],
)
def test_on_the_shared_origin_the_path_says_which(target: bytes, inside: bytes) -> None:
    assert SHARED.find(b"workspaces.example.org", target) == At(ID, b"/w/" + HEX, inside)


@pytest.mark.parametrize(
    "target",
    [
        b"/",
        b"/api/v1/me",
        b"//w/" + HEX + b"/",
        b"/W/" + HEX + b"/",
        b"/w/" + HEX.upper() + b"/",
        b"/w/" + str(ID).encode() + b"/",
        b"/w/" + HEX + b"0/",
        b"/w/" + HEX + b"%2f",
        b"/w/./" + HEX + b"/",
        b"*",
    ],
)
def test_nothing_else_is_on_the_shared_origin(target: bytes) -> None:
    assert SHARED.find(b"workspaces.example.org", target) == Nowhere()


def test_with_a_shared_origin_names_below_the_domain_are_nobodys() -> None:
    assert SHARED.find(HEX + b".localhost", b"/") == Api()

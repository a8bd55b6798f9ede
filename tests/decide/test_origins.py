"""Where browsers find a workspace, and that it is never where the API is."""

from uuid import UUID

import pytest

from codehub.decide.origins import Origins

ID = UUID("0b7c1c2e-5f0e-4c44-9f1c-6c1a2f6f3d10")
OWN = Origins("http://127.0.0.1:8080", "localhost")
SECURE = Origins("https://codehub.example.org", "dev.example.org")
SHARED = Origins("https://codehub.example.org", "localhost", "https://workspaces.example.org:8443")


@pytest.mark.parametrize(
    ("origins", "address", "prefix"),
    [
        (OWN, f"http://{ID.hex}.localhost:8080/", ""),
        (SECURE, f"https://{ID.hex}.dev.example.org/", "__Host-"),
        (SHARED, f"https://workspaces.example.org:8443/w/{ID.hex}/", "__Secure-"),
    ],
)
def test_each_way_has_its_address_and_its_cookies(origins: Origins, address: str, prefix: str) -> None:
    assert origins.address(ID) == address
    assert origins.address(ID) == f"{origins.of(ID)}{origins.mount(ID)}/"
    assert origins.cookie_prefix == prefix
    assert origins.is_secure is address.startswith("https:")

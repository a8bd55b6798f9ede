"""A certificate is shown to a visitor before anybody depends on it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from codehub.errors import ConfigurationError
from codehub.proxy.tls import present
from tests.certificates import Certificate, make_certificate

NAMES = ("codehub.dev.test", "*.dev.test")


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path / "good", *NAMES)


def refusal(certificate: Path, key: Path | None, name: str = "codehub.dev.test") -> str:
    with pytest.raises(ConfigurationError) as refused:
        present(certificate, key, name)
    return refused.value.what


@pytest.mark.parametrize("name", ["codehub.dev.test", "0123456789abcdef0123456789abcdef.dev.test"])
def test_it_is_good_for_its_names_and_below_its_wildcard(certificate: Certificate, name: str) -> None:
    shown = present(certificate.file, certificate.key, name)
    assert timedelta(days=88) < shown.good_until - datetime.now(UTC) < timedelta(days=91)
    assert not shown.is_trusted_here


@pytest.mark.parametrize("name", ["codehub.test", "dev.test", "a.b.dev.test"])
def test_it_is_not_good_for_other_names(certificate: Certificate, name: str) -> None:
    assert refusal(certificate.file, certificate.key, name).endswith(f"is not for {name}.")


def test_one_that_has_expired_is_told(tmp_path: Path) -> None:
    old = make_certificate(tmp_path / "old", *NAMES, days=-1)
    assert refusal(old.file, old.key).endswith("has expired.")


def test_a_key_of_another_one_is_told(certificate: Certificate, tmp_path: Path) -> None:
    other = make_certificate(tmp_path / "other", *NAMES)
    assert "cannot be used" in refusal(certificate.file, other.key)


def test_what_is_no_certificate_or_not_there_is_told(certificate: Certificate, tmp_path: Path) -> None:
    assert "cannot be used" in refusal(certificate.key, certificate.key)
    assert "No such file" in refusal(tmp_path / "missing.pem", None)


def test_certificate_and_key_may_be_in_one_file(certificate: Certificate, tmp_path: Path) -> None:
    both = tmp_path / "both.pem"
    both.write_bytes(certificate.file.read_bytes() + certificate.key.read_bytes())
    assert present(both, None, "codehub.dev.test") == present(certificate.file, certificate.key, "codehub.dev.test")

"""`codehub up` for others than this machine: with a certificate, or with a decision to do without."""

import ssl
from pathlib import Path

import httpx
import pytest

from codehub.errors import ExitCode
from tests.certificates import Certificate, make_certificate
from tests.stack.installation import Installation


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path / "certificate", "codehub.dev.test", "*.dev.test")


def finding(codehub: Installation, name: str, **environment: str) -> str:
    told = codehub.run("doctor", **environment).stdout.splitlines()
    return next(line for line in told if line.split()[1] == name)


def test_without_tls_it_does_not_listen_where_others_are(codehub: Installation) -> None:
    for command in ("up", "serve"):
        answer = codehub.run(command, "--listen", "0.0.0.0:0")
        assert answer.returncode == ExitCode.CONFIGURATION
        assert "and there is no TLS" in answer.stderr
        assert "--insecure" in answer.stderr
    assert not codehub.data.exists()


def test_whoever_decides_to_do_without_is_warned(codehub: Installation) -> None:
    answer = codehub.run("serve", "--listen", "0.0.0.0:0", CODEHUB_INSECURE="true")
    assert answer.stderr.startswith("Warning: others reach codehub without TLS.")
    assert "DATABASE_URL is not set" in answer.stderr  # it got so far


def test_a_certificate_that_cannot_be_used_is_told_before_anything_starts(
    codehub: Installation, certificate: Certificate
) -> None:
    answer = codehub.run("up", "--domain", "dev.test", "--cert", str(certificate.file), "--key", str(certificate.file))
    assert answer.returncode == ExitCode.CONFIGURATION
    assert "cannot be used" in answer.stderr
    assert not codehub.data.exists()


def test_doctor_names_the_records_and_tries_the_certificate(codehub: Installation, certificate: Certificate) -> None:
    told = {"PROXY_CERTIFICATE": str(certificate.file), "PROXY_KEY": str(certificate.key), "PROXY_DOMAIN": "dev.test"}
    good = told | {"CODEHUB_PUBLIC_URL": "https://codehub.dev.test"}
    assert "codehub.dev.test. A (this machine), *.dev.test. A (this machine)" in finding(codehub, "workspaces", **good)
    assert finding(codehub, "certificate", **good).startswith("ok")
    assert "good for codehub.dev.test and *.dev.test until" in finding(codehub, "certificate", **good)
    bad = told | {"CODEHUB_PUBLIC_URL": "https://codehub.test"}
    assert finding(codehub, "certificate", **bad).startswith("FAIL")
    assert "is not for codehub.test" in finding(codehub, "certificate", **bad)


def test_with_a_domain_and_a_certificate_it_is_reached_over_tls(
    codehub: Installation, certificate: Certificate, unused_tcp_port: int
) -> None:
    arguments = ("--domain", "dev.test", "--cert", str(certificate.file), "--key", str(certificate.key))
    said = codehub.up(*arguments, "--listen", f"127.0.0.1:{unused_tcp_port}")
    assert f"codehub is ready: https://codehub.dev.test:{unused_tcp_port}\n" in said
    trusting = ssl.create_default_context(cafile=str(certificate.file))
    with httpx.Client(verify=trusting, trust_env=False, timeout=30) as client:
        answer = client.get(
            f"https://127.0.0.1:{unused_tcp_port}/login",
            headers={"Host": f"codehub.dev.test:{unused_tcp_port}"},
            extensions={"sni_hostname": "codehub.dev.test"},
        )
    assert answer.status_code == 200
    codehub.down()

"""Certificates made on the spot, which nobody trusts who is not told to."""

import base64
import hashlib
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

CONFIGURATION = """
[ca]
default_ca = ours
[ours]
database = index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = named
x509_extensions = for_names
[named]
commonName = supplied
[for_names]
subjectAltName = {names}
"""


@dataclass(frozen=True)
class Certificate:
    file: Path
    key: Path

    def fingerprint(self) -> str:
        """Of its public key, as browsers are told whom to trust."""
        public = subprocess.run(
            ["openssl", "pkey", "-in", self.key, "-pubout", "-outform", "DER"], check=True, capture_output=True
        ).stdout
        return base64.b64encode(hashlib.sha256(public).digest()).decode()


def make_certificate(folder: Path, *names: str, days: int = 90) -> Certificate:
    """For these names, good from a year ago and for so many days from now on."""
    folder.mkdir()
    (folder / "index").touch()
    (folder / "configuration").write_text(CONFIGURATION.format(names=",".join(f"DNS:{name}" for name in names)))
    now = datetime.now(UTC)
    starts, ends = (f"{moment:%Y%m%d%H%M%SZ}" for moment in (now - timedelta(days=365), now + timedelta(days=days)))
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem")
    _openssl(folder, "req", "-new", *key, "-out", "request.pem", "-subj", f"/CN={names[0]}")
    signed = ("-config", "configuration", "-selfsign", "-keyfile", "key.pem", "-startdate", starts, "-enddate", ends)
    _openssl(folder, "ca", "-batch", "-notext", *signed, "-in", "request.pem", "-out", "certificate.pem")
    return Certificate(folder / "certificate.pem", folder / "key.pem")


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

"""Signatures, against the examples that Amazon publishes ("Signature Calculations for the Authorization Header")."""

from datetime import UTC, datetime

import pytest

from codehub.archives.sigv4 import Credentials, canonical_path, canonical_query, signed_headers

EXAMPLE = Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1")
WHEN = datetime(2013, 5, 24, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "signature"),
    [
        ({"lifecycle": ""}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ({"max-keys": "2", "prefix": "J"}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ],
)
def test_a_published_request_gets_its_published_signature(query: dict[str, str], signature: str) -> None:
    headers = signed_headers("GET", "examplebucket.s3.amazonaws.com", "/", query, by=EXAMPLE, at=WHEN)
    assert headers["x-amz-date"] == "20130524T000000Z"
    assert headers["authorization"].endswith(f"Signature={signature}")


def test_what_is_signed_is_what_is_sent() -> None:
    assert canonical_query({"b": "x y/+", "a": "ü~"}) == "a=%C3%BC~&b=x%20y%2F%2B"
    assert canonical_path("/bucket/a b/+%~") == "/bucket/a%20b/%2B%25~"


def test_credentials_do_not_show_their_secret() -> None:
    assert EXAMPLE.secret_access_key not in repr(EXAMPLE)

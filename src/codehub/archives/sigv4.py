"""Sign a request to S3 (AWS Signature Version 4): in its Authorization header, or in its URL.

Only for the requests in `s3_requests` and for jobs (`presign`). Objects travel through obstore, which signs for itself.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote

EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What proves to a store who asks."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    region: str


def canonical_query(query: Mapping[str, str]) -> str:
    """The query in the one spelling that client and server both sign; to be sent exactly so."""
    return "&".join(f"{quote(name, safe='~')}={quote(query[name], safe='~')}" for name in sorted(query))


def canonical_path(path: str) -> str:
    return quote(path, safe="/~")


def signed_headers(
    method: str,
    host: str,
    path: str,
    query: Mapping[str, str],
    *,
    by: Credentials,
    at: datetime,
) -> dict[str, str]:
    """The headers that authorise this very request, which has no body, for the next few minutes."""
    moment = at.strftime("%Y%m%dT%H%M%SZ")
    scope = f"{moment[:8]}/{by.region}/s3/aws4_request"
    signed = {"host": host, "x-amz-content-sha256": EMPTY_SHA256, "x-amz-date": moment}
    names = ";".join(sorted(signed))
    lines = "".join(f"{name}:{signed[name]}\n" for name in sorted(signed))
    request = "\n".join((method, canonical_path(path), canonical_query(query), lines, names, EMPTY_SHA256))
    signature = _signature(request, moment, scope, by)
    authorization = f"{_ALGORITHM} Credential={by.access_key_id}/{scope},SignedHeaders={names},Signature={signature}"
    return signed | {"authorization": authorization}


def signed_query(
    method: str,
    headers: Mapping[str, str],
    path: str,
    query: Mapping[str, str],
    *,
    by: Credentials,
    at: datetime,
    seconds: int,
) -> str:
    """The query that authorises this request to whoever holds it, with any body, for so many seconds.

    The headers, Host among them and all in small letters, have to be sent as they are signed here.
    """
    moment = at.strftime("%Y%m%dT%H%M%SZ")
    scope = f"{moment[:8]}/{by.region}/s3/aws4_request"
    names = ";".join(sorted(headers))
    authorization = {
        "X-Amz-Algorithm": _ALGORITHM,
        "X-Amz-Credential": f"{by.access_key_id}/{scope}",
        "X-Amz-Date": moment,
        "X-Amz-Expires": str(seconds),
        "X-Amz-SignedHeaders": names,
    }
    asked = canonical_query({**query, **authorization})
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    request = "\n".join((method, canonical_path(path), asked, lines, names, "UNSIGNED-PAYLOAD"))
    return f"{asked}&X-Amz-Signature={_signature(request, moment, scope, by)}"


def _signature(request: str, moment: str, scope: str, by: Credentials) -> str:
    digest = hashlib.sha256(request.encode()).hexdigest()
    return _hmac(_key(by, moment[:8]), f"{_ALGORITHM}\n{moment}\n{scope}\n{digest}").hex()


def _key(by: Credentials, day: str) -> bytes:
    key = b"AWS4" + by.secret_access_key.encode()
    for part in (day, by.region, "s3", "aws4_request"):
        key = _hmac(key, part)
    return key


def _hmac(key: bytes, message: str) -> bytes:
    return hmac.digest(key, message.encode(), "sha256")

"""What is codehub's own in a head, so that a workspace never sees it and can never set it (contract 13)."""

import re
from functools import lru_cache

_OUR_COOKIE = re.compile(rb"[ \t=]*(?:__(?:host|secure|http|host-http)-)*codehub", re.IGNORECASE)
"""Cookies whose names begin like this are ours, in any case and behind any of the prefixes that browsers know. Spaces
around a name are trimmed by browsers, and `=codehub=x` sets a cookie without a name that is sent as `codehub=x`."""
_OUR_TOKEN = re.compile(rb"bearer[ \t]+(codehub_[!-~]*)[ \t]*", re.IGNORECASE)
OUR_HEADERS = b"x-codehub-"


Cookies = tuple[tuple[bytes, bytes], ...]


def split_cookies(header: bytes) -> tuple[bytes, Cookies]:
    """What of a Cookie header is the workspace's, as it was sent, and what is ours."""
    return _known(header) if len(header) <= 1024 else _split(header)


def _split(header: bytes) -> tuple[bytes, Cookies]:
    if b"codehub" not in header.lower():
        return header, ()
    kept, ours = [], []
    for part in header.split(b";"):
        if _OUR_COOKIE.match(part):
            name, _, value = part.strip(b" \t=").partition(b"=")
            ours.append((name.strip(), value.strip()))
        else:
            kept.append(part)
    return b";".join(kept).strip(), tuple(ours)


_known = lru_cache(1024)(_split)


def our_token(authorization: bytes) -> bytes | None:
    """The token of ours in an Authorization header; None where it is none of our business."""
    found = _OUR_TOKEN.fullmatch(authorization)
    return found[1] if found else None


def harmless_set_cookie(value: bytes) -> bytes | None:
    """What a workspace may set, None for a name of ours. Without `Domain`: a cookie stays on the origin that set it,
    instead of reaching the API and everybody else's workspaces."""
    if _OUR_COOKIE.match(value):
        return None
    if b"domain" not in value.lower():
        return value
    first, *attributes = value.split(b";")
    return b";".join([first, *(each for each in attributes if each.partition(b"=")[0].strip().lower() != b"domain")])

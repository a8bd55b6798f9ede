"""The cookies that codehub sets: who is logged in, and that a browser was logged in before."""

import hashlib
import hmac
import secrets
from uuid import UUID

from fastapi import Request, Response

from codehub.web.callers import Callers

DEVICE_SECONDS = 365 * 86400


def set_session(response: Response, callers: Callers, secret: str) -> None:
    """A browser session; PostgreSQL knows when it ends, the browser only when it does at the latest."""
    response.set_cookie(
        callers.cookie_name,
        secret,
        max_age=callers.auth.session_max_seconds,
        path="/",
        secure=callers.secure,
        httponly=True,
        samesite="lax",
    )


def clear_session(response: Response, callers: Callers) -> None:
    response.delete_cookie(callers.cookie_name, path="/", secure=callers.secure, httponly=True, samesite="lax")


def set_device(response: Response, callers: Callers, user_id: UUID, password_hash: str) -> None:
    """Remember that this browser knew the password. It logs nobody in: its failed logins are counted on their own, so
    that nobody who guesses from elsewhere, or from the same address, can make its owner wait."""
    nonce = secrets.token_hex(16)
    response.set_cookie(
        device_cookie(callers),
        f"{nonce}.{_proof(nonce, user_id, password_hash)}",
        max_age=DEVICE_SECONDS,
        path="/",
        secure=callers.secure,
        httponly=True,
        samesite="strict",
    )


def device_of(request: Request, callers: Callers, user_id: UUID, password_hash: str) -> str | None:
    """What tells this browser from others, if it has logged in to this account since the password was last changed."""
    nonce, _, proof = request.cookies.get(device_cookie(callers), "").partition(".")
    expected = _proof(nonce, user_id, password_hash)
    return nonce if hmac.compare_digest(proof.encode(), expected.encode()) else None


def device_cookie(callers: Callers) -> str:
    return f"{callers.cookie_name}-device"


def _proof(nonce: str, user_id: UUID, password_hash: str) -> str:
    """Made with the stored hash as the key: nobody outside can make one, nothing has to be kept, and a new password
    makes all of them worthless."""
    return hmac.new(password_hash.encode(), f"device:{user_id}:{nonce}".encode(), hashlib.sha256).hexdigest()

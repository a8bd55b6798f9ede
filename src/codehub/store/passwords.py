"""How passwords are kept: argon2id, with one set of parameters for the whole installation.

Slow by design, tens of milliseconds of a core: never called on an event loop that answers requests."""

import secrets
import unicodedata
from dataclasses import dataclass
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

# What OWASP recommends where many log in at once: little memory, one lane, so that one login keeps one core busy.
HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


@dataclass(frozen=True, slots=True)
class Verdict:
    matches: bool
    newer_hash: str | None = None
    """To be stored in place of the old one, which was made with other parameters."""


def hash_password(password: str) -> str:
    return HASHER.hash(_normal(password))


def check_password(password_hash: str | None, password: str) -> Verdict:
    """Whether this is the password. Where there is no account to ask for, the same work is done in vain, so that the
    time tells nobody which accounts exist."""
    nobodys = _hash_that_nothing_matches()
    try:
        HASHER.verify(nobodys if password_hash is None else password_hash, _normal(password))
    except (VerificationError, InvalidHashError):
        return Verdict(matches=False)
    if password_hash is None:
        return Verdict(matches=False)
    return Verdict(True, hash_password(password) if HASHER.check_needs_rehash(password_hash) else None)


@cache
def _hash_that_nothing_matches() -> str:
    return HASHER.hash(secrets.token_urlsafe())


def _normal(password: str) -> str:
    """The same characters, however the keyboard has composed them."""
    return unicodedata.normalize("NFKC", password)

"""Saying what was refused in the reader's language: by its code, which is stable, instead of its English sentence."""

from codehub.decide.password import FEWEST_DIFFERENT, SHORTEST
from codehub.web.pages.languages import Language
from codehub.web.problems import Refused

_KNOWN: dict[str, dict[str, object]] = {
    "weak_password": {"shortest": SHORTEST, "different": FEWEST_DIFFERENT},
}
"""What the sentence of a code names and the refusal itself does not carry."""


def said(refusal: Refused, language: Language) -> str:
    """What has no sentence of its own is told as the API tells it."""
    key = f"refusal.{refusal.code}"
    if key not in language:
        return refusal.detail
    return language.say(key, detail=refusal.detail, **(refusal.more | _KNOWN.get(refusal.code, {})))

"""Saying what was refused in the reader's language: by its code, which is stable, instead of its English sentence."""

from dataclasses import dataclass

from fastapi import Request
from pydantic import ValidationError

from codehub.decide.password import FEWEST_DIFFERENT, SHORTEST
from codehub.model.accounts import Caller
from codehub.web.pages.languages import Language
from codehub.web.pages.reading import reading
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


@dataclass(frozen=True, slots=True)
class Mistakes:
    """What was wrong with a form, which is shown again with what was filled in."""

    refusal: Refused | None = None
    wrong: frozenset[str] = frozenset()
    """The fields, by the names that the API gives them."""

    @property
    def status(self) -> int:
        if self.refusal is not None:
            return self.refusal.status
        return 422 if self.wrong else 200

    def said(self, request: Request, caller: Caller) -> str:
        return said(self.refusal, reading(request, caller.locale).language) if self.refusal is not None else ""


NONE = Mistakes()


def wrong_fields(error: ValidationError) -> frozenset[str]:
    """By name; what lies within another, such as one of several variables, by the name of that too."""
    return frozenset(str(part) for mistake in error.errors() for part in mistake["loc"])

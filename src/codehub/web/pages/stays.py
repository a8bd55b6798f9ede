"""Why something stays that the collector looked at, in the reader's language."""

from codehub.decide.orphans import Stays
from codehub.web.pages.languages import Language


def stays(why: str, language: Language) -> str:
    """A reason that another version of codehub has written down, and this one does not know, is told as it is."""
    newest, _, number = why.rpartition(" ")
    if newest == Stays.NEWEST and number.isdigit():
        return language.say("stays.newest", count=int(number))
    return language.say(f"stays.{Stays(why).name.lower()}") if why in set(Stays) else why

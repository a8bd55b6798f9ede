"""Times, durations and sizes in the words of one reader: their language, their time zone, their present moment."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from codehub.decide.wording import Wording
from codehub.web.pages.languages import Language

_UNITS = ((86400, "time.days"), (3600, "time.hours"), (60, "time.minutes"), (1, "time.seconds"))
_SIZES = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


@lru_cache(maxsize=500)
def zone(name: str) -> tzinfo | None:
    """The time zone of this name; None where it is not known here."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # a name that is a path, a folder, or nothing
        return None


@dataclass(frozen=True, slots=True)
class Telling:
    language: Language
    now: datetime
    zone: tzinfo | None = None
    """None where the browser did not say it: then times are in UTC, and say so."""

    def moment(self, at: datetime) -> str:
        """To the minute; of today without the day."""
        local = at.astimezone(self.zone or UTC)
        is_today = local.date() == self.now.astimezone(self.zone or UTC).date()
        told = local.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M")
        return told if self.zone is not None else f"{told} UTC"

    def ago(self, at: datetime) -> str:
        passed = self.now - at
        if passed < timedelta(minutes=1):
            return self.language.say("time.now")
        return self.language.say("time.ago", duration=self.lasting(passed.total_seconds()))

    def until(self, at: datetime) -> str:
        """How long from now, rounded up: what is told to come never comes sooner."""
        left = max(0.0, (at - self.now).total_seconds())
        return self.lasting(left if left < 60 else -(-left // 60) * 60)

    def lasting(self, seconds: float) -> str:
        """In the largest unit that it fills."""
        for unit, key in _UNITS:
            if seconds >= unit:
                return self.language.say(key, count=int(seconds // unit))
        return self.language.say("time.seconds", count=1)

    def size(self, number: float) -> str:
        """As people read it: three digits and a unit."""
        for unit, name in _SIZES:
            if number >= unit:
                scaled = number / unit
                return f"{scaled:.{0 if scaled >= 100 else 1}f} {name}"
        return f"{number:.0f} B"

    def wording(self) -> Wording:
        return replace(self.language.wording, moment=self.moment)

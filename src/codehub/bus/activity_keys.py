"""Where activity lies in Redis. All of it may be lost: then nobody is put to sleep for one idle time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Keys:
    prefix: str

    @property
    def told(self) -> tuple[str, str, str, str]:
        """What front doors write: when each workspace was last used (a sorted set), by what (a hash), when each of them
        last spoke (a sorted set), and the newest process of each (a hash)."""
        return self.prefix, f"{self.prefix}:kinds", f"{self.prefix}:doors", f"{self.prefix}:processes"

    @property
    def watch(self) -> str:
        """Since when the TTL runner has missed nothing, and on which server (a hash)."""
        return f"{self.prefix}:watch"

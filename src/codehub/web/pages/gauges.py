"""What a running workspace uses at the moment, as a card shows it."""

from collections.abc import Iterator
from dataclasses import dataclass

from codehub.model.usage import Sample
from codehub.web.pages.telling import Telling


@dataclass(frozen=True, slots=True)
class Gauge:
    label: str
    """The key of its name."""
    text: str
    long: str
    """The same with what it is measured by, for who cannot see the bar."""
    value: float
    most: float | None
    """Its limit; None where there is none, or it is not known."""


def gauges(sample: Sample | None, told: Telling) -> list[Gauge]:
    return list(_of(sample, told)) if sample is not None else []


def _of(sample: Sample, told: Telling) -> Iterator[Gauge]:
    say = told.language.say
    if sample.cpus is not None:
        used = f"{sample.cpus:.1f}"
        limit = sample.cpus_limit
        text = f"{100 * sample.cpus / limit:.0f} %" if limit else used
        long = say("use.of", used=used, most=f"{limit:g}") if limit else used
        yield Gauge("use.cpu", text, long, sample.cpus, limit)
    for label, used_bytes, most in (
        ("use.memory", sample.memory_bytes, sample.memory_limit_bytes),
        ("use.disk", sample.home_bytes, None),
    ):
        if used_bytes is not None:
            text = told.size(used_bytes)
            long = say("use.of", used=text, most=told.size(most)) if most else text
            yield Gauge(label, text, long, used_bytes, most)

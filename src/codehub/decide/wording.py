"""How explanations are said: everything that differs from language to language, and nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from codehub.decide.situations import Code
from codehub.model.activity import Kind
from codehub.model.shown import Next
from codehub.model.states import Desired, ErrorReason, Operation, Service
from codehub.model.workspace import RequestKind


def in_utc(moment: datetime) -> str:
    """A time for people anywhere; pages tell it in their reader's time zone instead."""
    return f"{moment.astimezone(UTC).isoformat(' ', 'minutes')[:16]} UTC"


@dataclass(frozen=True, slots=True)
class Wording:
    """The sentences of one language. `decide/phrases.py` fills their gaps, which are the same in all languages."""

    sentences: Mapping[Code, str]
    intent: Mapping[Code, str]
    """What happens, where something has to come first."""
    service: Mapping[Service, str]
    something: str
    """Where it is not known which one."""
    trying: Mapping[Operation, str]
    fault: Mapping[ErrorReason, str]
    way_out: Mapping[ErrorReason, str]
    choice: str
    only_choice: str
    no_choice: str
    """What an owner of lost files is told before the way out that is always there."""
    request: Mapping[RequestKind, str]
    then: Mapping[Desired, str]
    """What follows an operation that does not yet lead to the wish."""
    then_restored: str
    """What follows the operations that put the present files away, where older ones were asked for."""
    at_time: Mapping[Next, str]
    held: str
    """In place of when it goes to sleep, where that would be before."""
    activity: Mapping[Kind, str]
    because: Mapping[tuple[str, Desired], str]
    """Why the wish is as it is; a pair that is missing says nothing, rather than something that makes no sense."""
    who: Mapping[str, str]
    somebody: Mapping[str, str]
    """Where it is not known who."""
    last_used: str
    used_for: str
    """Ends the sentence about when it was last used."""
    after: str
    from_then_on: str
    opens_in: str
    durations: Sequence[tuple[float, str]]
    """What is said of less than so many seconds."""
    minutes: str
    files: str
    some_files: str
    an_image: str
    moment: Callable[[datetime], str] = in_utc

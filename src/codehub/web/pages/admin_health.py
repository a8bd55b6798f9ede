"""How each part of the installation does, in words, with what helps where one does not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codehub.model.states import ImageState, Service
from codehub.store.templates import ShownTemplate
from codehub.telemetry.health import Check
from codehub.web.health import Report
from codehub.web.pages.languages import Language


@dataclass(frozen=True, slots=True)
class Known:
    """All that is known of the parts."""

    report: Report
    services: Mapping[str, bool]
    offices: Sequence[Mapping[str, Any]]
    templates: Sequence[ShownTemplate]
    alarms: Sequence[str]


@dataclass(frozen=True, slots=True)
class Condition:
    """How one part does."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    language: str | None = None
    """Of the detail and the remedy, where they are told as a service or a program told them."""


def conditions(known: Known, language: Language) -> list[Condition]:
    """What does not do well comes first."""
    found = [
        *(_checked(check, language) for check in known.report.checks),
        _processes(known.report.replicas, language),
        *_services(known.services, language),
        _offices(known.offices, language),
        _templates(known.templates, language),
        _collector(known.alarms, language),
    ]
    return sorted(found, key=lambda each: each.ok)


def _checked(check: Check, language: Language) -> Condition:
    name = language.say(f"admin.part.{check.name.replace(' ', '_')}")
    detail = f"{check.detail}, {check.latency_ms:g} ms" if check.ok else check.detail
    return Condition(name, check.ok, detail, check.remedy, "en")


def _processes(replicas: Mapping[str, bool], language: Language) -> Condition:
    say, silent = language.say, sorted(name for name, answers in replicas.items() if not answers)
    detail = say("admin.health.answering", count=len(replicas) - len(silent), all=len(replicas))
    remedy = say("admin.remedy.processes", names=", ".join(silent)) if silent else ""
    return Condition(say("admin.part.processes"), not silent, detail, remedy)


def _services(services: Mapping[str, bool], language: Language) -> Iterator[Condition]:
    """As the controller finds them while it works. Of those that have a check of their own, only a fault is told."""
    for name, answers in sorted(services.items()):
        service = name if name in set(Service) else Service.REGISTRY.value
        if name == Service.RUNTIME or not answers:
            fault = "no_room" if name == Service.ARCHIVE_ROOM else "away"
            detail = language.say(f"admin.health.{'answers' if answers else fault}")
            remedy = "" if answers else language.say(f"admin.remedy.{service}")
            shown = language.say(f"admin.part.{service}")
            yield Condition(shown, answers, detail, remedy)


def _offices(offices: Sequence[Mapping[str, Any]], language: Language) -> Condition:
    say = language.say
    empty = [each["name"] for each in offices if not each["held"]]
    failing = [each["name"] for each in offices if each["is_failing"]]
    detail = say("admin.health.led", count=len(offices) - len(empty), all=len(offices))
    remedy = say("admin.remedy.offices", names=", ".join(empty)) if empty or not offices else ""
    if failing:
        remedy = say("admin.remedy.failing", names=", ".join(failing))
    return Condition(say("admin.part.offices"), bool(offices) and not empty and not failing, detail, remedy)


def _templates(templates: Sequence[ShownTemplate], language: Language) -> Condition:
    say = language.say
    by_state = {state: [each.name for each in templates if each.status is state] for state in ImageState}
    failed, building = by_state[ImageState.FAILED], by_state[ImageState.BUILDING]
    detail = say("admin.health.templates", count=len(by_state[ImageState.READY]), all=len(templates))
    if building:
        detail = f"{detail} {say('admin.health.building', names=', '.join(building))}"
    remedy = say("admin.remedy.templates", names=", ".join(failed)) if failed else ""
    return Condition(say("admin.part.templates"), not failed, detail, remedy)


def _collector(alarms: Sequence[str], language: Language) -> Condition:
    say = language.say
    if not alarms:
        return Condition(say("admin.part.collector"), True, say("admin.health.no_alarm"))
    detail = " ".join(say(f"admin.alarm.{code}") for code in alarms)
    return Condition(say("admin.part.collector"), False, detail, say("admin.remedy.collector"))

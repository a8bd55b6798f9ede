"""How each part does, in words: every fault comes first and with what helps."""

from typing import Any
from uuid import uuid4

import pytest

from codehub import clock
from codehub.model.states import ImageState, Service
from codehub.store.templates import ShownTemplate
from codehub.telemetry.health import Check
from codehub.web.api.schemas.gc import AlarmCode
from codehub.web.health import Report
from codehub.web.pages.admin_health import Known, conditions
from codehub.web.pages.languages import LANGUAGES

CHECKS = tuple(Check(name, True, 1.5, "answers") for name in ("database", "database disk", "redis", "archive store"))


def office(**fields: object) -> dict[str, Any]:
    return {"name": "coordinator:wc", "held": True, "is_failing": False, **fields}


def template(status: ImageState) -> ShownTemplate:
    now = clock.now()
    resources: dict[str, float] = {}
    return ShownTemplate(
        uuid4(), "python", "", "ide", status, "", 8080, "/", True, {}, resources, None, None, False, now, now
    )


def known(**fields: Any) -> Known:  # noqa: ANN401 (those of `Known`)
    well = {
        "report": Report(CHECKS, {"api-1": True}),
        "services": dict.fromkeys(Service, True),
        "offices": [office()],
        "templates": [template(ImageState.READY)],
        "alarms": [],
    }
    return Known(**{**well, **fields})


@pytest.mark.parametrize("code", LANGUAGES)
def test_where_all_is_well_there_is_nothing_to_remedy(code: str) -> None:
    told = conditions(known(), LANGUAGES[code])
    assert all(each.ok and not each.remedy and each.detail for each in told)
    assert len({each.name for each in told}) == len(told)


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize(
    "faulty",
    [
        {"report": Report((Check("redis", False, 9, "does not answer", "Start it."),), {"api-1": True})},
        {"report": Report(CHECKS, {"api-1": True, "proxy-1": False})},
        *({"services": {service: False}} for service in Service),
        {"services": {"registry.example.org": False}},
        {"offices": []},
        {"offices": [office(held=False)]},
        {"offices": [office(is_failing=True)]},
        {"templates": [template(ImageState.FAILED)]},
        *({"alarms": [alarm]} for alarm in AlarmCode),
    ],
)
def test_a_fault_comes_first_with_what_helps(code: str, faulty: dict[str, Any]) -> None:
    first, *others = conditions(known(**faulty), LANGUAGES[code])
    assert not first.ok
    assert first.remedy
    assert all(each.ok for each in others)


def test_an_image_that_is_being_built_is_no_fault() -> None:
    told = conditions(known(templates=[template(ImageState.BUILDING)]), LANGUAGES["en"])
    assert all(each.ok for each in told)
    assert "0 of 1 are ready. Being built: python." in {each.detail for each in told}

"""Every language says the same."""

from collections.abc import Mapping
from dataclasses import fields
from string import Formatter

import pytest

from codehub.decide.explain import explain
from codehub.decide.wording import Wording
from codehub.decide.wording_english import ENGLISH
from codehub.decide.wording_korean import KOREAN
from tests.decide.shown import IDLE_POLICY
from tests.decide.test_explain import cases

TEXTS = [field.name for field in fields(Wording) if field.name not in {"durations", "moment"}]


def texts(wording: Wording, name: str) -> dict[object, str]:
    held = getattr(wording, name)
    return dict(held) if isinstance(held, Mapping) else {"": held}


def gaps(text: str) -> set[str | None]:
    return {gap for _, gap, _, _ in Formatter().parse(text)} - {None}


@pytest.mark.parametrize("name", TEXTS)
def test_a_sentence_has_the_same_gaps_in_every_language(name: str) -> None:
    english, korean = texts(ENGLISH, name), texts(KOREAN, name)
    assert {key: gaps(text) for key, text in korean.items()} == {key: gaps(text) for key, text in english.items()}


def test_a_state_is_told_in_korean_without_a_word_of_english() -> None:
    for (workspace, live), english in cases():
        told = explain(workspace, live, IDLE_POLICY, KOREAN)
        assert (told.code, told.params, told.next) == (english.code, english.params, english.next)
        assert told.summary != english.summary
        assert not set(told.summary.split()) & {"It", "it", "Its", "the", "is", "files"}

"""Everything that a page says is in a catalogue, and every catalogue says all of it."""

import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from codehub.decide.orphans import Stays
from codehub.model.states import Operation, Phase
from codehub.web import pages
from codehub.web.pages.actions import Deed
from codehub.web.pages.admin_audit import KINDS
from codehub.web.pages.languages import LANGUAGES, OTHER, accepted
from codehub.web.problems import Refused

FOLDER = Path(pages.__file__).parent
TEMPLATES = sorted((FOLDER / "templates").glob("*.html"))
SOURCES = [*TEMPLATES, *FOLDER.glob("*.py")]
ENGLISH, KOREAN = LANGUAGES["en"].texts, LANGUAGES["ko"].texts

NAMED = re.compile(r"""["']([a-z_]+(?:\.[a-zA-Z0-9_]+)+)["']""")
FAMILY = re.compile(r"""["']([a-z_]+\.(?:[a-z_]+\.)*)(?:["'] ?~|\{)""")
"""The beginning of keys whose end is a value."""


def gaps(text: object) -> set[str | None]:
    other = text if isinstance(text, str) else text[OTHER]  # type: ignore[index]
    return {gap for _, gap, _, _ in Formatter().parse(other)} - {None}


def test_every_language_has_the_same_texts_with_the_same_gaps() -> None:
    assert {key: gaps(text) for key, text in KOREAN.items()} == {key: gaps(text) for key, text in ENGLISH.items()}


def test_every_text_is_used_and_every_text_that_is_used_is_there() -> None:
    written = "\n".join(path.read_text() for path in SOURCES)
    families = set(FAMILY.findall(written))
    first = {key.partition(".")[0] for key in ENGLISH}
    named = {key for key in NAMED.findall(written) if key.partition(".")[0] in first and not key.endswith(".html")}
    assert named - set(ENGLISH) == {"login.approve_cli"}  # a word of the audit log
    unused = {key for key in ENGLISH if key not in named and not any(key.startswith(each) for each in families)}
    assert unused == {"brand"}


def test_what_is_told_by_its_name_has_a_word() -> None:
    assert {f"phase.{phase}" for phase in Phase} <= set(ENGLISH)
    assert {f"operation.{operation}" for operation in Operation if operation is not Operation.NONE} <= set(ENGLISH)
    assert {f"stays.{why.name.lower()}" for why in Stays} == {key for key in ENGLISH if key.startswith("stays.")}
    assert {f"done.{deed}" for deed in Deed} | {f"action.{deed}" for deed in Deed} <= set(ENGLISH)


def test_every_deed_that_the_audit_log_can_have_is_told_in_words() -> None:
    of_the_web = "\n".join(path.read_text() for path in FOLDER.parent.rglob("*.py"))
    written = set(re.findall(rf'"((?:{"|".join(KINDS)})\.[a-z_]+)"', of_the_web)) - set(ENGLISH)
    deeds = {each for each in written if not each.endswith(".html")}
    assert deeds == {key.removeprefix("admin.did.") for key in ENGLISH if key.startswith("admin.did.")}


def kinds(refused: type[Refused]) -> Iterator[type[Refused]]:
    for kind in refused.__subclasses__():
        yield kind
        yield from kinds(kind)


def test_no_refusal_has_a_sentence_that_nobody_can_get() -> None:
    of_the_framework = {
        *("bad_request", "internal_server_error", "method_not_allowed"),
        *("unprocessable_entity", "unprocessable_content"),  # as older and newer Pythons call it
    }
    codes = {kind.code for kind in kinds(Refused)} | of_the_framework
    assert {key.removeprefix("refusal.") for key in ENGLISH if key.startswith("refusal.")} <= codes


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_has_no_words_of_its_own(path: Path) -> None:
    bare = re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", "", path.read_text(), flags=re.DOTALL)
    spoken = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]*)"', bare)
    text = re.sub(r"<[^>]*>", "", bare)
    assert re.findall(r"[A-Za-z가-힣]{2,}", " ".join([text.replace("/readyz", "").replace(" ms", ""), *spoken])) == []


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("", "en"),
        ("ko", "ko"),
        ("ko-KR,ko;q=0.9,en;q=0.8", "ko"),
        ("fr, en;q=0.3, ko;q=0.7", "ko"),
        ("ko;q=0, fr", "en"),
        ("de, *;q=0.1", "en"),
        (";;q=x,ko;q=", "ko"),
    ],
)
def test_a_browser_gets_the_language_that_it_likes_best(header: str, code: str) -> None:
    assert accepted(header).code == code

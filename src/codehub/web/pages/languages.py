"""What pages say, in each language: one catalogue per language (`words/en/`, `words/ko/`), each with the same keys and
a file for each part of the dashboard. {gaps} are filled by the server."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from codehub.decide.wording import Wording
from codehub.decide.wording_english import ENGLISH
from codehub.decide.wording_korean import KOREAN

ONE, OTHER = "one", "other"
"""The forms of a text that counts something. A language without plural has only the second."""

Text = str | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Language:
    code: str
    name: str
    """As those call it who speak it."""
    wording: Wording
    texts: Mapping[str, Text]

    def say(self, key: str, **values: object) -> str:
        """The text of this key with its gaps filled. One that counts something takes its form from `count`."""
        text = self.texts[key]
        if not isinstance(text, str):
            text = text.get(ONE, text[OTHER]) if values["count"] == 1 else text[OTHER]
        return text.format(**values)

    def __contains__(self, key: str) -> bool:
        return key in self.texts


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Text]]:
    for key, value in table.items():
        if isinstance(value, str) or OTHER in value:
            yield before + key, value
        else:
            yield from _flat(value, f"{before}{key}.")


def _language(code: str, name: str, wording: Wording) -> Language:
    texts: dict[str, Text] = {}
    for file in files("codehub.web.pages").joinpath("words", code).iterdir():
        texts.update(_flat(tomllib.loads(file.read_text("utf-8"))))
    return Language(code, name, wording, texts)


LANGUAGES = {
    language.code: language for language in (_language("en", "English", ENGLISH), _language("ko", "한국어", KOREAN))
}
DEFAULT = LANGUAGES["en"]


def accepted(header: str) -> Language:
    """The one that a browser prefers among those that we speak (`Accept-Language`)."""
    wanted = sorted((_weighed(part) for part in header.split(",")), key=lambda pair: -pair[1])
    known = (LANGUAGES[code] for code, weight in wanted if weight > 0 and code in LANGUAGES)
    return next(known, DEFAULT)


def _weighed(part: str) -> tuple[str, float]:
    tag, _, parameters = part.partition(";")
    code = tag.strip().partition("-")[0].lower()
    try:
        return code, float(parameters.strip().removeprefix("q=") or 1)
    except ValueError:
        return code, 0.0

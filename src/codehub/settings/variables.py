"""What can be said about one setting, and the places its value may come from.

`groups.py` declares the settings; this file knows how to find, describe and show any of them, so that the loader, the
error messages, `codehub config` and the documents all speak from the same declaration.
"""

import difflib
import io
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from dotenv.parser import parse_stream
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from codehub.errors import ConfigurationError

HIDDEN = "********"
_USERINFO = re.compile(r":(?!//)[^\s\"']*@")
_QUERY_SECRET = re.compile(r"([?&](?:password|sslpassword|passfile)=)[^&\s\"']*", re.IGNORECASE)


def hide_passwords(text: str) -> str:
    """The text without the passwords of the URLs in it. Of a malformed URL it hides too much rather than too little."""
    return _QUERY_SECRET.sub(rf"\g<1>{HIDDEN}", _USERINFO.sub(f":{HIDDEN}@", text))


@dataclass(frozen=True)
class Words:
    """How messages and documents speak of a setting where its type cannot say it."""

    allowed: str = ""
    unset: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Variable:
    """One setting: its name outside (`TTL_STANDBY_SECONDS`) and its place inside (`settings.ttl.standby_seconds`)."""

    name: str
    group: str
    field: str
    info: FieldInfo

    @property
    def secret(self) -> bool:
        return self.info.annotation is not None and SecretStr in (self.info.annotation, *get_args(self.info.annotation))

    @property
    def meaning(self) -> str:
        return " ".join((self.info.description or "").split())

    @property
    def unit(self) -> str:
        return self._word("unit")

    @property
    def default(self) -> str:
        """The default as a person would write it, or what stands in for it."""
        return self._word("unset") or str(self.info.default)

    @property
    def allowed(self) -> str:
        """What may be written, from the constraints that are really checked."""
        if said := self._word("allowed"):
            return said
        if get_origin(self.info.annotation) is Literal:
            return " or ".join(get_args(self.info.annotation))
        number = "a whole number" if self.info.annotation is int else "a number"
        unit = f" of {self.unit}" if self.unit else ""
        return f"{number}{unit}, {self._bounds()}"

    def _bounds(self) -> str:
        signs = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
        return " and ".join(
            f"{words} {getattr(rule, sign):g}"
            for rule in self.info.metadata
            for sign, words in signs.items()
            if hasattr(rule, sign)
        )

    def _word(self, name: Literal["allowed", "unset", "unit"]) -> str:
        said = (getattr(words, name) for words in self.info.metadata if isinstance(words, Words))
        return next(filter(None, said), "")

    def shown(self, value: object) -> str:
        """The value as it may be shown to anyone: secrets and the passwords inside URLs hidden."""
        if value is None:
            return self.default
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        return HIDDEN if self.secret else hide_passwords(str(number))


@dataclass(frozen=True)
class Layer:
    """Values by variable name, and the place they come from. Stronger layers stand first in a list of them."""

    source: str
    values: Mapping[str, str]


def from_environment(environ: Mapping[str, str], known: Iterable[str]) -> Layer:
    """The known variables of the environment. Others are no mistake: an environment is shared by many programs."""
    return Layer("environment", {name: environ[name] for name in known if environ.get(name)})


def from_dotenv(path: Path, known: Iterable[str], prefixes: Iterable[str]) -> Layer:
    """The settings in a `.env` file, taken literally. A name that only looks like ours is an error."""
    names, values, ours = list(known), dict[str, str](), tuple(prefixes)
    for binding in parse_stream(io.StringIO(_text(path))):
        if binding.error:
            line = binding.original.line
            raise ConfigurationError(f"Line {line} of {path} is not of the form NAME=value.", "Correct or remove it.")
        if binding.key in names and binding.value:
            values[binding.key] = binding.value
        elif binding.key and binding.key not in names and binding.key.upper().startswith(ours):
            raise unknown(binding.key, str(path), names)
    return Layer(str(path), values)


def from_toml(path: Path, known: Iterable[str]) -> Layer:
    """The settings in a `codehub.toml`: nested keys joined by "_" give the variable's name; each must be a setting."""
    names, values = list(known), dict[str, str]()
    try:
        document = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}.", "Correct it.") from error
    for name, value in _flattened(document):
        if name not in names:
            raise unknown(name, str(path), names)
        if name in values:
            raise ConfigurationError(f"{name} is set twice in {path}.", "Remove one of them.")
        if not isinstance(value, str | int | float):
            raise ConfigurationError(f"{name} in {path} is neither text nor a number.", "Write one value.")
        values[name] = str(value)
    return Layer(str(path), values)


def unknown(name: str, source: str, known: Iterable[str]) -> ConfigurationError:
    """The error for a name that is no setting, with the nearest one that is."""
    near = difflib.get_close_matches(name.upper(), known, n=1)
    remedy = f"Did you mean {near[0]}?" if near else "docs/configuration.md lists all settings."
    return ConfigurationError(f"{name} in {source} is not a setting of codehub.", remedy)


def _flattened(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        name = f"{prefix}{key}".upper()
        if isinstance(value, dict):
            yield from _flattened(value, f"{name}_")
        else:
            yield name, value


def _text(path: Path) -> str:
    """What the file says. A file that is not there says nothing; one that cannot be read is an error."""
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8 text.", "Save it as UTF-8.") from error
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be read: {error.strerror}.", "Make it readable or remove it."
        ) from error
